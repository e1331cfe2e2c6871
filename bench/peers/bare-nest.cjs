// Nest with its defaults, answering one JSON document: node bench/peers/bare-nest.cjs PORT DOCUMENT
require('reflect-metadata');
const { Controller, Get, Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');

const answer = JSON.parse(process.argv[3]);

class Bare {
  answer() {
    return answer;
  }
}
Controller('answer')(Bare);
Get()(Bare.prototype, 'answer', Object.getOwnPropertyDescriptor(Bare.prototype, 'answer'));

class BareModule {}
Module({ controllers: [Bare] })(BareModule);

void NestFactory.create(BareModule, { logger: false }).then((app) =>
  app.listen(Number(process.argv[2]), '127.0.0.1'),
);
