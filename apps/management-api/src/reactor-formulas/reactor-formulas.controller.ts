import type { Actor } from '@glovebox/access';
import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Put } from '@nestjs/common';
import type { Author } from '../changes/change';
import { RequirePermission } from '../http/check-permission';
import { Caller, ChangedBy, LoadedResource } from '../http/request';
import { OfResource } from '../http/check-resource';
import { Tagged } from '../http/entity-tags';
import { Listing, type ListQuery } from '../lists/listing';
import type { Page } from '../lists/page';
import type { MergePatch } from '../validation/patched-dto';
import { ReactorFormula } from '../entities/reactor-formula.entity';
import { FormulaInput, toFormulaResponse, type FormulaResponse } from './reactor-formulas.dto';
import { ReactorFormulasService } from './reactor-formulas.service';

@Controller('reactor-formulas')
export class ReactorFormulasController {
  constructor(private readonly formulas: ReactorFormulasService) {}

  @Post()
  @Tagged()
  @RequirePermission('reactor:create')
  create(@ChangedBy() author: Author, @Body() input: FormulaInput): Promise<FormulaResponse> {
    return this.formulas.create(author, input);
  }

  @Get()
  @RequirePermission('reactor:read')
  list(@Caller() actor: Actor, @Listing() query: ListQuery): Promise<Page> {
    return this.formulas.list(actor, query);
  }

  @Get(':id')
  @Tagged()
  @RequirePermission('reactor:read')
  @OfResource(ReactorFormula)
  get(@LoadedResource() formula: ReactorFormula): FormulaResponse {
    return toFormulaResponse(formula, 'read');
  }

  @Put(':id')
  @Tagged()
  @RequirePermission('reactor:update')
  @OfResource(ReactorFormula)
  update(
    @ChangedBy() author: Author,
    @LoadedResource() { id }: ReactorFormula,
    @Body() input: FormulaInput,
  ): Promise<FormulaResponse> {
    return this.formulas.update(author, id, input);
  }

  @Patch(':id')
  @Tagged()
  @HttpCode(204)
  @RequirePermission('reactor:update')
  @OfResource(ReactorFormula)
  patch(
    @ChangedBy() author: Author,
    @LoadedResource() { id }: ReactorFormula,
    @Body() patch: MergePatch,
  ): Promise<void> {
    return this.formulas.patch(author, id, patch);
  }

  @Delete(':id')
  @Tagged()
  @HttpCode(204)
  @RequirePermission('reactor:delete')
  @OfResource(ReactorFormula)
  remove(@ChangedBy() author: Author, @LoadedResource() { id }: ReactorFormula): Promise<void> {
    return this.formulas.remove(author, id);
  }
}
