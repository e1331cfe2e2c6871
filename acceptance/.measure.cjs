// ../../../tmp/gb-mgmt/m/measure.ts
var import_node_fs = require("node:fs");

// acceptance/neighbour.ts
var import_node_child_process = require("node:child_process");
var import_node_crypto2 = require("node:crypto");
var import_node_events2 = require("node:events");
var import_node_http2 = require("node:http");
var import_node_path = require("node:path");

// acceptance/product.ts
var import_node_crypto = require("node:crypto");
async function call(method, url, options = {}) {
  const answer = await fetch(url, {
    method,
    headers: {
      ...options.key === void 0 ? {} : { "SVC-API-KEY": options.key },
      ...options.body === void 0 ? {} : { "Content-Type": "application/json" },
      ...options.headers
    },
    ...options.body === void 0 ? {} : { body: JSON.stringify(options.body) },
    redirect: "manual"
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    get body() {
      return JSON.parse(text);
    }
  };
}
async function create(product2, path, body, key = product2.adminKey) {
  const answer = await call("POST", `${product2.baseUrl}${path}`, { key, body });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}
async function reactorOf(product2, code, formula = {}) {
  const name = `formula ${(0, import_node_crypto.randomUUID)()}`;
  const { id } = await create(product2, "/reactor-formulas", {
    type: "private",
    name,
    code,
    ...formula
  });
  const reactor = await create(product2, "/reactors", {
    name,
    configuration: {},
    formula: { id }
  });
  return reactor.id;
}
async function until(condition, withinMs = 1e4) {
  const deadline = performance.now() + withinMs;
  while (!await condition().catch(() => false)) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

// acceptance/receiver.ts
var import_node_events = require("node:events");
var import_node_http = require("node:http");
var thanks = (res) => {
  res.writeHead(200, { "content-type": "application/json" }).end('{"received":true}');
};
async function startReceiver(answer = thanks) {
  const received = [];
  let waitedFor = 0;
  const arrived = new EventTarget();
  const server = (0, import_node_http.createServer)((req, res) => {
    const chunks = [];
    req.on("data", (chunk) => chunks.push(chunk));
    req.on("end", () => {
      const request2 = {
        method: req.method ?? "",
        url: req.url ?? "",
        headers: req.headers,
        body: Buffer.concat(chunks).toString("utf8")
      };
      received.push(request2);
      answer(res, request2);
      arrived.dispatchEvent(new Event("request"));
    });
  });
  server.listen(0, "127.0.0.1");
  await (0, import_node_events.once)(server, "listening");
  const { port } = server.address();
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async next() {
      for (; ; ) {
        const request2 = received[waitedFor];
        if (request2) {
          waitedFor += 1;
          return request2;
        }
        await new Promise((resolve) => {
          arrived.addEventListener("request", resolve, { once: true });
        });
      }
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await (0, import_node_events.once)(server, "close");
    }
  };
}

// acceptance/neighbour.ts
var intervalMs = 40;
var asyncIntervalMs = 200;
var asyncKind = "reactor, async, until its webhook";
var Victim = class _Victim {
  constructor(product2, destination, kinds, reactPath) {
    this.product = product2;
    this.destination = destination;
    this.kinds = kinds;
    this.reactPath = reactPath;
  }
  #agent = new import_node_http2.Agent({ keepAlive: true });
  static async settle(product2) {
    const destination = await startReceiver();
    const privateKey = await revealingKey(product2, product2.adminKey);
    const proxy = await create(product2, "/proxies", {
      name: "victim",
      destination_url: destination.url
    });
    const token = await create(product2, "/tokens", { type: "token", data: "mine" }, privateKey);
    const reactor = await reactorOf(product2, "module.exports = async () => ({ raw: { ran: 1 } });");
    const keys = { "svc-api-key": privateKey, "content-type": "application/json" };
    const post = (path, body, more = {}) => ({
      method: "POST",
      path,
      headers: { ...keys, ...more },
      body
    });
    const through = { "svc-proxy-key": String(proxy.key) };
    const expression = JSON.stringify({ value: `{{${token.id}}}` });
    const reactPath = `/reactors/${reactor}/react`;
    const kinds = {
      "proxy, plain": post("/proxy", "{}", through),
      "proxy, with a token": post("/proxy", expression, through),
      "reactor, sync": post(reactPath, "{}"),
      detokenize: post("/detokenize", expression),
      "list of tokens": { ...post("/tokens?size=5", ""), method: "GET" }
    };
    return new _Victim(product2, destination, kinds, reactPath);
  }
  /** Every kind of call at a steady pace for so long. */
  async measure(forMs) {
    const end = performance.now() + forMs;
    const measured = await Promise.all([
      ...Object.entries(this.kinds).map(
        ([name, kind]) => paced(name, end, intervalMs, () => this.#time(kind))
      ),
      paced(asyncKind, end, asyncIntervalMs, () => this.#timeUntilWebhook())
    ]);
    this.destination.received.length = 0;
    return Object.fromEntries(measured);
  }
  async leave() {
    this.#agent.destroy();
    await this.destination.close();
  }
  async #timeUntilWebhook() {
    const begun = performance.now();
    const path = `/hooks/${(0, import_node_crypto2.randomUUID)()}`;
    const { status } = await this.#time({
      method: "POST",
      path: this.reactPath,
      headers: this.kinds.detokenize.headers,
      body: JSON.stringify({ callback_url: `${this.destination.url}${path}` })
    });
    if (status !== "202") return { status, ms: performance.now() - begun };
    const hasArrived = () => Promise.resolve(this.destination.received.some(({ url }) => url === path));
    const arrived = await until(hasArrived, 2e4).then(
      () => "200",
      () => "no webhook"
    );
    return { status: arrived, ms: performance.now() - begun };
  }
  #time({ method, path, headers, body }) {
    const begun = performance.now();
    return new Promise((resolve) => {
      const settle = (status) => resolve({ status, ms: performance.now() - begun });
      const sent = (0, import_node_http2.request)(`${this.product.baseUrl}${path}`, {
        method,
        agent: this.#agent,
        headers: { ...headers, "content-length": Buffer.byteLength(body) },
        timeout: 15e3
      });
      sent.once("error", (error) => settle(error.code ?? "error"));
      sent.once("timeout", () => sent.destroy());
      sent.once("response", (answer) => {
        answer.resume().once("end", () => settle(String(answer.statusCode)));
      });
      sent.end(body);
    });
  }
};
async function revealingKey(product2, adminKey) {
  const permissions = ["create", "read", "search", "update", "delete", "use"];
  const rule = {
    priority: 1,
    container: "/",
    transform: "reveal",
    permissions: permissions.map((name) => `token:${name}`)
  };
  const body = { name: "neighbour", type: "private", rules: [rule] };
  return String((await create(product2, "/applications", body, adminKey)).key);
}
async function paced(name, end, everyMs, call2) {
  const calls = [];
  while (performance.now() < end) {
    calls.push(call2());
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  const done = await Promise.all(calls);
  const times = done.map(({ ms: ms2 }) => ms2).sort((a, b) => a - b);
  const failures = {};
  for (const { status } of done) {
    if (status !== "200") failures[status] = (failures[status] ?? 0) + 1;
  }
  const p99Ms = Math.round(times[Math.ceil(times.length * 0.99) - 1] ?? 0);
  return [name, { calls: done.length, failures, p99Ms }];
}
async function attackOf(product2, name) {
  const { baseUrl, secondTenant } = product2;
  const { adminKey } = secondTenant;
  const attacked = { baseUrl, adminKey, privateKey: await revealingKey(product2, adminKey) };
  const child = (0, import_node_child_process.spawn)(
    "nice",
    ["-n", "19", process.execPath, (0, import_node_path.join)(__dirname, "attacks.mjs"), name],
    {
      stdio: ["pipe", "pipe", "inherit"],
      env: { PATH: process.env.PATH, ATTACKED: JSON.stringify(attacked) }
    }
  );
  let said = "";
  const exited = (0, import_node_events2.once)(child, "exit");
  child.stdout.setEncoding("utf8").on("data", (text) => said += text);
  while (!said.includes("attacking\n")) {
    const [ended] = await Promise.race([(0, import_node_events2.once)(child.stdout, "data"), exited]);
    if (typeof ended === "number") throw new Error(`the attack ended with ${ended}: ${said}`);
  }
  return {
    async end() {
      child.stdin.end();
      await exited;
      return JSON.parse(said.split("\n").at(-2) ?? "{}");
    }
  };
}

// ../../../tmp/gb-mgmt/m/measure.ts
var product = JSON.parse((0, import_node_fs.readFileSync)("/tmp/gb-mgmt/dev.json", "utf8"));
var [rounds, ms, ...names] = process.argv.slice(2);
var cpu = () => {
  const [, ...n] = (0, import_node_fs.readFileSync)("/proc/stat", "utf8").split("\n")[0].split(/\s+/).map(Number);
  return { idle: n[3] + n[4], all: n.slice(0, 8).reduce((a, b) => a + b, 0) };
};
var ticks = (pid) => {
  try {
    const f = (0, import_node_fs.readFileSync)(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    return 10 * (Number(f[11]) + Number(f[12]));
  } catch {
    return 0;
  }
};
var pgs = () => {
  const { execSync } = require("child_process");
  return execSync(`ps -o pid= --ppid ${product.pids.postgres}`).toString().trim().split(/\s+/).map(Number);
};
var use = () => {
  const r = {};
  for (const n of ["gateway", "management-api", "worker", "runner"]) r[n] = ticks(product.pids[n]);
  r.pg = new Map(pgs().map((p) => [p, ticks(p)]));
  r.cpu = cpu();
  r.me = process.cpuUsage();
  return r;
};
var used = (a, b) => {
  let pg = 0;
  for (const [p, v] of b.pg) pg += v - (a.pg.get(p) ?? 0);
  const all = (b.cpu.all - a.cpu.all) * 10, idle = (b.cpu.idle - a.cpu.idle) * 10;
  const d = (n) => b[n] - a[n];
  return `gw ${d("gateway")} mg ${d("management-api")} wk ${d("worker")} rn ${d("runner")} pg ${pg} me ${Math.round((b.me.user + b.me.system - a.me.user - a.me.system) / 1e3)} of ${all} idle ${idle}`;
};
var calm = async () => {
  for (let t = 0; t < 60; t++) {
    const a = cpu();
    await new Promise((r) => setTimeout(r, 1500));
    const b = cpu();
    const idle = (b.idle - a.idle) / (b.all - a.all);
    if (idle > 0.6 || t === 25) return Math.round(idle * 100);
  }
};
(async () => {
  const victim = await Victim.settle(product);
  await victim.measure(1e3);
  const show = (m) => Object.entries(m).map(([k, q]) => `${k.replace("reactor, ", "").replace(", until its webhook", "").replace("proxy, with a token", "ptoken").replace("proxy, plain", "proxy").replace("list of tokens", "list")} ${q.p99Ms}${Object.keys(q.failures).length ? JSON.stringify(q.failures) : ""}`).join(" | ");
  for (let r = 0; r < Number(rounds); r++) {
    {
      const c = await calm();
      const u = use();
      const m = await victim.measure(Number(ms));
      console.log("quiet".padEnd(50), show(m), "| calm", c, "|", used(u, use()));
    }
    for (const n of names) {
      const c = await calm();
      const a = await attackOf(product, n);
      const u = use();
      const m = await victim.measure(Number(ms));
      const w = use();
      console.log(n.slice(0, 49).padEnd(50), show(m), JSON.stringify(await a.end()), "| calm", c, "|", used(u, w));
    }
  }
  await victim.leave();
  process.exit(0);
})();
