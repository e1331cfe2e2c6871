// Loaded into a gateway that the bench starts (--require): as if it counted nothing.
const { Counter, Histogram } = require('prom-client');

const nothing = () => undefined;
const silent = { observe: nothing, inc: nothing, startTimer: () => nothing };

Histogram.prototype.observeWithoutExemplar = nothing;
Histogram.prototype.labels = () => silent;
Counter.prototype.incWithoutExemplar = nothing;
Counter.prototype.labels = () => silent;
