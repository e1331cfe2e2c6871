import { Body, Controller, Get, Post } from '@nestjs/common';
import type { Actor } from '@glovebox/vault';
import { RequirePermission } from '../http/permission.guard';
import { Caller, Loaded } from '../http/request';
import { OfResource } from '../http/resource.guard';
import { ReactorFormula } from './reactor-formula.entity';
import { CreateFormula, toFormulaResponse, type FormulaResponse } from './reactor-formulas.dto';
import { ReactorFormulasService } from './reactor-formulas.service';

@Controller('reactor-formulas')
export class ReactorFormulasController {
  constructor(private readonly formulas: ReactorFormulasService) {}

  @Post()
  @RequirePermission('reactor:create')
  create(@Caller() actor: Actor, @Body() input: CreateFormula): Promise<FormulaResponse> {
    return this.formulas.create(actor, input);
  }

  @Get(':id')
  @RequirePermission('reactor:read')
  @OfResource(ReactorFormula)
  get(@Loaded() formula: ReactorFormula): FormulaResponse {
    return toFormulaResponse(formula, 'read');
  }
}
