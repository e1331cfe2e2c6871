// Nest as it comes, answering JSON and nothing else: node bench/peers/bare-nest.cjs PORT
require('reflect-metadata');
const { Controller, Get, Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');

class Bare {
  answer() {
    return { id: '7e0f6f2c-1b1d-4f0a-9d0e-0d4a6f4f9b11', name: 'bare', type: 'private' };
  }
}
Controller('answer')(Bare);
Get()(Bare.prototype, 'answer', Object.getOwnPropertyDescriptor(Bare.prototype, 'answer'));

class BareModule {}
Module({ controllers: [Bare] })(BareModule);

void NestFactory.create(BareModule, { logger: false }).then((app) =>
  app.listen(Number(process.argv[2]), '127.0.0.1'),
);
