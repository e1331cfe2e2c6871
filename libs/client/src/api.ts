// Made of docs/openapi.json by npm run docs.
export interface paths {
    "/applications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List applications, the newest first
         * @description Needs the permission `application:read`.
         */
        get: operations["listApplications"];
        put?: never;
        /**
         * Create an application and its first key
         * @description Only this answer shows the key. Needs the permission `application:create`.
         */
        post: operations["createApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the application of the caller
         * @description Any valid key is enough.
         */
        get: operations["getOwnApplication"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an application
         * @description Needs the permission `application:read`.
         */
        get: operations["getApplication"];
        /**
         * Replace an application; its keys stay
         * @description Needs the permission `application:update`.
         */
        put: operations["updateApplication"];
        post?: never;
        /**
         * Delete an application and its keys
         * @description Refused with 409 while reactors or proxies use it, and where it has the last key without an end that may create applications. Needs the permission `application:delete`.
         */
        delete: operations["deleteApplication"];
        options?: never;
        head?: never;
        /**
         * Change members of an application
         * @description Needs the permission `application:update`.
         */
        patch: operations["patchApplication"];
        trace?: never;
    };
    "/applications/{id}/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask what the application may do with a token, and what it would see
         * @description Decided by the rules that decide on its calls. Nothing is revealed: `shown` has the mask where the application would get the data, and is absent unless the caller itself may read the token. Needs the permission `application:read`.
         */
        post: operations["decideForApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{id}/regenerate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a new key and revoke all others
         * @description Needs the permission `application:update`.
         */
        post: operations["regenerateApplicationKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{id}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the keys of an application, without the keys themselves
         * @description Needs the permission `application:read`.
         */
        get: operations["listApplicationKeys"];
        put?: never;
        /**
         * Create another key
         * @description Only this answer shows it. Needs the permission `application:update`.
         */
        post: operations["createApplicationKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{id}/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a key, without the key itself
         * @description Needs the permission `application:read`.
         */
        get: operations["getApplicationKey"];
        put?: never;
        post?: never;
        /**
         * Revoke a key
         * @description The last one without an end that may create applications stays: 409. Needs the permission `application:update`.
         */
        delete: operations["deleteApplicationKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List all permissions, and the application types that may hold each */
        get: operations["listPermissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reactor-formulas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List reactor formulas, the newest first
         * @description Needs the permission `reactor:read`.
         */
        get: operations["listReactorFormulas"];
        put?: never;
        /**
         * Create a reactor formula
         * @description The code is compiled and not run; what it requires by literal names must exist. Needs the permission `reactor:create`.
         */
        post: operations["createReactorFormula"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reactor-formulas/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a reactor formula
         * @description Needs the permission `reactor:read`.
         */
        get: operations["getReactorFormula"];
        /**
         * Replace a reactor formula
         * @description What is left out returns to its default. In force from the next run. Needs the permission `reactor:update`.
         */
        put: operations["updateReactorFormula"];
        post?: never;
        /**
         * Delete a reactor formula that no reactor uses
         * @description Needs the permission `reactor:delete`.
         */
        delete: operations["deleteReactorFormula"];
        options?: never;
        head?: never;
        /**
         * Change members of a reactor formula
         * @description Needs the permission `reactor:update`.
         */
        patch: operations["patchReactorFormula"];
        trace?: never;
    };
    "/reactors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List reactors, the newest first
         * @description Needs the permission `reactor:read`.
         */
        get: operations["listReactors"];
        put?: never;
        /**
         * Create a reactor: a formula with its configuration
         * @description Needs the permission `reactor:create`.
         */
        post: operations["createReactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reactors/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a reactor
         * @description Needs the permission `reactor:read`.
         */
        get: operations["getReactor"];
        /**
         * Replace a reactor; its formula stays
         * @description Needs the permission `reactor:update`.
         */
        put: operations["updateReactor"];
        post?: never;
        /**
         * Delete a reactor
         * @description Needs the permission `reactor:delete`.
         */
        delete: operations["deleteReactor"];
        options?: never;
        head?: never;
        /**
         * Change members of a reactor
         * @description `configuration` is merged key by key; `application: null` removes it. Needs the permission `reactor:update`.
         */
        patch: operations["patchReactor"];
        trace?: never;
    };
    "/proxies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List proxies, the newest first
         * @description Needs the permission `proxy:read`.
         */
        get: operations["listProxies"];
        put?: never;
        /**
         * Create a proxy
         * @description Needs the permission `proxy:create`.
         */
        post: operations["createProxy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/proxies/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a proxy
         * @description Needs the permission `proxy:read`.
         */
        get: operations["getProxy"];
        /**
         * Replace a proxy; its key stays
         * @description Needs the permission `proxy:update`.
         */
        put: operations["updateProxy"];
        post?: never;
        /**
         * Delete a proxy and revoke its key
         * @description Needs the permission `proxy:delete`.
         */
        delete: operations["deleteProxy"];
        options?: never;
        head?: never;
        /**
         * Change members of a proxy
         * @description `configuration` is merged key by key; `application: null` removes it. Needs the permission `proxy:update`.
         */
        patch: operations["patchProxy"];
        trace?: never;
    };
    "/deployments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deployments, the newest first
         * @description Needs the permission `deployment:read`.
         */
        get: operations["listDeployments"];
        put?: never;
        /**
         * Put a set of reactors, proxies and applications in force, all at once or not at all
         * @description No call sees a part of it. Each item is found by its `slug`. What was changed by hand since files put it in force is 409 `deployment_conflict`, and nothing is written. In `configuration` null keeps the stored value. A set that is in force already changes nothing. Needs the permission `deployment:create`.
         */
        post: operations["createDeployment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deployments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a deployment with what it changed
         * @description Needs the permission `deployment:read`.
         */
        get: operations["getDeployment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deployments/{id}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put in force what a deployment had put in force
         * @description The id names the deployment to return to. It is a new deployment, in force when answered: code, definitions and configuration values are those of then, what files have put there since is deleted, and what they have pruned since comes back under its id. Needs the permission `deployment:create`.
         */
        post: operations["rollBackToDeployment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/code/{sha256}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a text of code that is kept, by its SHA-256
         * @description Needs the permission `reactor:read`.
         */
        get: operations["getCode"];
        /**
         * Upload code that is too large for a resource
         * @description The path is the SHA-256 of the text, which is compiled and not run. A formula, a transform or an item of a deployment then names it by `code_sha256`. It stays for an hour without a resource that names it. At most 500 texts, with 64 MiB, may wait so. Needs the permission `deployment:create`.
         */
        put: operations["uploadCode"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/code/{sha256}/map": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Upload the source map of an uploaded text
         * @description Runs and dry runs of the text then show positions of its sources. Only the API reads it. Needs the permission `deployment:create`.
         */
        put: operations["uploadSourceMap"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/proxies/{id}/captures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the captured calls of a proxy, the newest first
         * @description A tenant has at most 100 of 10 MiB together, of the last 24 hours: the newest stay. `window` is there while capture is on. Needs the permission `proxy:update`.
         */
        get: operations["listCaptures"];
        put?: never;
        /**
         * Keep the shapes of the calls of a proxy for some minutes
         * @description For 60 minutes at most; a window that is open is replaced. It is in force when it is answered, and ends by itself. The proxy and its version stay as they are. `whole: true` keeps texts: a person with the role admin alone may ask for it, where the setting `allow_full_capture` of the tenant is `true`. Needs the permission `proxy:update`.
         */
        post: operations["startCapture"];
        /**
         * End the capture of a proxy
         * @description What was captured stays for its time. Needs the permission `proxy:update`.
         */
        delete: operations["endCapture"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/proxies/{id}/captures/{capture_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a captured call
         * @description Each reading is a line of the audit log. One with texts is for whom they may be kept. Needs the permission `proxy:update`.
         */
        get: operations["getCapture"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what happened lately, what waits, and the state of the processes
         * @description At most 100 resources are shown, those with the most failures first, then those with the most calls: `truncated: true` says that there are others. `totals` and `series` have all calls. Counts are up to 10 seconds old, and those that took long to add up are shown for a while. Needs the permission `log:read`.
         */
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reactors/dry-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run unsaved code in the sandbox
         * @description Without network and without `svc`, unless they are asked for; `svc` needs `token:use`. It is no run of a reactor. Expressions are replaced for callers with `token:use` alone, and nothing that is answered shows data of tokens or stored configuration. `inspect` lets a debugger in, as `glovebox dev --inspect` does: the code then gets no such data, no `svc`, and 15 minutes. Needs the permission `reactor:update`.
         */
        post: operations["rehearseReactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/proxies/dry-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a request and an answer through an unsaved proxy
         * @description Nothing leaves, code has neither network nor `svc`, and steps store no token. Expressions are replaced for callers with `token:use` alone, and shown as `[redacted]`. With `inspect` they stay as they are: a debugger is let in, and sees all that code holds. Needs the permission `proxy:update`.
         */
        post: operations["rehearseProxy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List calls, those that ended last first
         * @description Calls of `/proxy`, of reactors and of all other operations with a valid key. In each second and process, 200 calls that did not complete and 50 that did have an entry each. Further ones share entries: one with `sampled: true` stands for `count` calls that are alike. Needs the permission `log:read`.
         */
        get: operations["listCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/calls/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count calls by minute, resource and outcome
         * @description Exact: every call is counted, also one without an entry of its own in the list. The newest minute comes first. At most 5000 entries are shown: `truncated: true` says that older minutes are left out. A call is counted up to 10 seconds after its end. Needs the permission `log:read`.
         */
        get: operations["summarizeCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/calls/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a call
         * @description Needs the permission `log:read`.
         */
        get: operations["getCall"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List runs, the newest first
         * @description Needs the permission `log:read`.
         */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run with its output, and the attempts of its webhook
         * @description As long as it is kept, also when its reactor or proxy is deleted. Needs the permission `log:read`.
         */
        get: operations["getRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repeat a failed run in the background
         * @description A new run with the arguments of then, the code of now and the rights of the caller. Arguments are kept until `arguments_kept_until`; 410 after it. Without `callback` nobody is sent the result, and it is not kept. Needs the permission `token:use`.
         */
        post: operations["rerunRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reactors/{id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of a reactor, the newest first
         * @description Needs the permission `log:read`.
         */
        get: operations["listReactorRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reactors/{id}/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run with its output, and the attempts of its webhook
         * @description Needs the permission `log:read`.
         */
        get: operations["getReactorRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reactors/{id}/results/{request_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the result of an async run
         * @description Only the application that started the run finds it, until 24 hours after its end. `request_id` is the `async_request_id`. To read it is to use its data, and decided anew. Needs the permission `token:use`.
         */
        get: operations["getReactorResult"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/proxies/{id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of the transforms of a proxy, the newest first
         * @description Needs the permission `log:read`.
         */
        get: operations["listProxyRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/proxies/{id}/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run of a transform with its output
         * @description Needs the permission `log:read`.
         */
        get: operations["getProxyRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks, the newest first
         * @description Needs the permission `log:read`.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook with its attempts
         * @description Needs the permission `log:read`.
         */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-deliveries/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send ended webhooks again, the newest first
         * @description Takes the newest `limit` webhooks that match, 1,000 by default. `queued` leaves out those whose body was erased, and those whose data could not be opened now, which `gone` counts. With `dry_run`, nothing is sent or recorded. Needs the permission `tenant:update`.
         */
        post: operations["replayWebhookDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-deliveries/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a webhook again, with the same `webhook-id`
         * @description A webhook that waits for its next attempt is sent now. One that is under way, or whose body was erased, is a conflict. Needs the permission `tenant:update`.
         */
        post: operations["replayWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-listeners": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get copies of the webhooks that are made from now on
         * @description Needs a rule on `/` with `log:read` and the transform `reveal`: webhooks show data. The originals go to their receivers. A tenant has at most 5 listeners at the same time. One ends 60 s after its last reading. Needs the permission `log:read`.
         */
        post: operations["startWebhookListener"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-listeners/{id}/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wait for webhooks, and get copies of them
         * @description Needs a rule on `/` with `log:read` and the transform `reveal`: webhooks show data. Answers as soon as there is one, with at most 20, and renews the lease. The same `after` gives the same copies again. 404 where the lease is over, or where more than 10,000 webhooks wait for the listener: begin a new one. Each copy is a line of the audit log. Needs the permission `log:read`.
         */
        get: operations["listenToWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-listeners/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a listener to webhooks
         * @description Needs the permission `log:read`.
         */
        delete: operations["endWebhookListener"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tenants/self": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the tenant of the caller
         * @description Needs the permission `tenant:read`.
         */
        get: operations["getTenant"];
        /**
         * Replace name and settings of the tenant
         * @description Needs the permission `tenant:update`.
         */
        put: operations["updateTenant"];
        post?: never;
        /**
         * Delete the tenant and everything in it
         * @description The name of the tenant is needed: here, or as `name` of a JSON body. Needs the permission `tenant:delete`.
         */
        delete: operations["deleteTenant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tenants/self/webhook-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the secret that signs webhooks
         * @description Needs the permission `tenant:update`.
         */
        get: operations["getWebhookSecret"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tenants/self/forward-ca": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the certificate authority that clients of forward mode must trust
         * @description It is made at the first call. Its key is never shown. Needs the permission `tenant:read`.
         */
        get: operations["getForwardCa"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tenants/self/forward-ca/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a new certificate authority. The one before it signs for 30 more days
         * @description A second rotation within that time ends it: the newest but one signs at once, and nothing that the oldest has signed is shown any more. Needs the permission `tenant:update`.
         */
        post: operations["rotateForwardCa"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tenants/self/webhook-secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a new secret. For 24 hours, the old one signs as well
         * @description Needs the permission `tenant:update`.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the audit log, the newest first
         * @description Needs the permission `log:read`.
         */
        get: operations["listLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sessions of the console, the newest first
         * @description Of people, admins alone see them. Needs the permission `application:read`.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a session of the console
         * @description It is dead at once in every process. The person may sign in again. Needs the permission `application:update`.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/people/{id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End all sessions of a person, and sign-ins that are under way
         * @description They are dead at once in every process. The person may sign in again. Needs the permission `application:update`.
         */
        delete: operations["endSessionsOfPerson"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tokens that a permission or rule covers, the newest first
         * @description The tokens of a page hold at most 10 MiB and 200,000 values. On 413, use a smaller `size`. Needs the permission `token:read`.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Create a token
         * @description With `deduplicate_token`, the answer is an existing token with the same fingerprint, if the caller may read one. Pages in browsers may call it with a key of a public application whose `allowed_origins` lists them: the answer then has `Access-Control-Allow-Origin`. A page that is not listed gets 403. Needs the permission `token:create`.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search the tokens that a permission or rule covers, the newest first
         * @description `field:value` joined by AND, OR, NOT and parentheses; values with spaces or signs in quotes. Fields: `data` (the values of `search_indexes`), `id`, `type`, `fingerprint`, `container` (with `*` at the end: all below), `metadata.NAME`. At most 20 terms. Pages have the limits of a list. Needs the permission `token:search`.
         */
        post: operations["searchTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a token
         * @description Needs the permission `token:read`.
         */
        get: operations["getToken"];
        put?: never;
        post?: never;
        /**
         * Delete a token
         * @description Needs the permission `token:delete`.
         */
        delete: operations["deleteToken"];
        options?: never;
        head?: never;
        /**
         * Change members of a token
         * @description Mask, fingerprint and indexes are computed again. New expressions over unchanged data need a rule that reveals under this permission. A move to another container needs the permission on both containers, and the new one may not show the caller more. Pages in browsers may call it with a key of a public application whose `allowed_origins` lists them: the answer then has `Access-Control-Allow-Origin`. A page that is not listed gets 403. Needs the permission `token:update`.
         */
        patch: operations["patchToken"];
        trace?: never;
    };
    "/tokenize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create tokens from a document, all or none
         * @description At most 1,000 tokens, from a document of at most 100,000 values. Strings, numbers and booleans become ids of tokens. Objects with `data` and a known `type` become tokens. null and the shape of everything else stay. Pages in browsers may call it with a key of a public application whose `allowed_origins` lists them: the answer then has `Access-Control-Allow-Origin`. A page that is not listed gets 403. Needs the permission `token:create`.
         */
        post: operations["tokenize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/detokenize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the expressions of a document, all or none
         * @description At most 1,000 expressions and 100 tokens, which hold at most 10 MiB and 200,000 values together. The document has at most 10 MiB of JSON, before and after. The permission or rule decides whether data or mask replaces an expression. Needs the permission `token:read`.
         */
        post: operations["detokenize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reactors/{id}/react": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a reactor
         * @description Needs the permission `token:use`, also for the container of each token in `args`. With `callback_url` the answer is 202, and a webhook delivers the result. With an idempotency key the outcome of code that ran is stored, whatever its status.
         */
        post: operations["invokeReactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/proxy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Forward a GET through a proxy
         * @description Expressions in path, query, headers and body are replaced before the call is forwarded. A proxy with `require_auth` needs an API key with `token:use`. Answers of the destination are passed on, whatever their status, with `SVC-PROXY-DESTINATION-STATUS`. A proxy with `allowed_origins` refuses other origins with 403, and answers preflights itself.
         */
        get: operations["getProxyCall"];
        /**
         * Forward a PUT through a proxy
         * @description Expressions in path, query, headers and body are replaced before the call is forwarded. A proxy with `require_auth` needs an API key with `token:use`. Answers of the destination are passed on, whatever their status, with `SVC-PROXY-DESTINATION-STATUS`. A proxy with `allowed_origins` refuses other origins with 403, and answers preflights itself.
         */
        put: operations["putProxyCall"];
        /**
         * Forward a POST through a proxy
         * @description Expressions in path, query, headers and body are replaced before the call is forwarded. A proxy with `require_auth` needs an API key with `token:use`. Answers of the destination are passed on, whatever their status, with `SVC-PROXY-DESTINATION-STATUS`. A proxy with `allowed_origins` refuses other origins with 403, and answers preflights itself.
         */
        post: operations["postProxyCall"];
        /**
         * Forward a DELETE through a proxy
         * @description Expressions in path, query, headers and body are replaced before the call is forwarded. A proxy with `require_auth` needs an API key with `token:use`. Answers of the destination are passed on, whatever their status, with `SVC-PROXY-DESTINATION-STATUS`. A proxy with `allowed_origins` refuses other origins with 403, and answers preflights itself.
         */
        delete: operations["deleteProxyCall"];
        options?: never;
        head?: never;
        /**
         * Forward a PATCH through a proxy
         * @description Expressions in path, query, headers and body are replaced before the call is forwarded. A proxy with `require_auth` needs an API key with `token:use`. Answers of the destination are passed on, whatever their status, with `SVC-PROXY-DESTINATION-STATUS`. A proxy with `allowed_origins` refuses other origins with 403, and answers preflights itself.
         */
        patch: operations["patchProxyCall"];
        trace?: never;
    };
    "/proxy/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Forward a GET through a proxy
         * @description Expressions in path, query, headers and body are replaced before the call is forwarded. A proxy with `require_auth` needs an API key with `token:use`. Answers of the destination are passed on, whatever their status, with `SVC-PROXY-DESTINATION-STATUS`. A proxy with `allowed_origins` refuses other origins with 403, and answers preflights itself.
         */
        get: operations["getProxyPathCall"];
        /**
         * Forward a PUT through a proxy
         * @description Expressions in path, query, headers and body are replaced before the call is forwarded. A proxy with `require_auth` needs an API key with `token:use`. Answers of the destination are passed on, whatever their status, with `SVC-PROXY-DESTINATION-STATUS`. A proxy with `allowed_origins` refuses other origins with 403, and answers preflights itself.
         */
        put: operations["putProxyPathCall"];
        /**
         * Forward a POST through a proxy
         * @description Expressions in path, query, headers and body are replaced before the call is forwarded. A proxy with `require_auth` needs an API key with `token:use`. Answers of the destination are passed on, whatever their status, with `SVC-PROXY-DESTINATION-STATUS`. A proxy with `allowed_origins` refuses other origins with 403, and answers preflights itself.
         */
        post: operations["postProxyPathCall"];
        /**
         * Forward a DELETE through a proxy
         * @description Expressions in path, query, headers and body are replaced before the call is forwarded. A proxy with `require_auth` needs an API key with `token:use`. Answers of the destination are passed on, whatever their status, with `SVC-PROXY-DESTINATION-STATUS`. A proxy with `allowed_origins` refuses other origins with 403, and answers preflights itself.
         */
        delete: operations["deleteProxyPathCall"];
        options?: never;
        head?: never;
        /**
         * Forward a PATCH through a proxy
         * @description Expressions in path, query, headers and body are replaced before the call is forwarded. A proxy with `require_auth` needs an API key with `token:use`. Answers of the destination are passed on, whatever their status, with `SVC-PROXY-DESTINATION-STATUS`. A proxy with `allowed_origins` refuses other origins with 403, and answers preflights itself.
         */
        patch: operations["patchProxyPathCall"];
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description A caller, with what it may do.
         * @example {
         *       "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "name": "Checkout",
         *       "type": "private",
         *       "permissions": [
         *         "token:create",
         *         "token:use"
         *       ],
         *       "rules": [],
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "modified_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        Application: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /**
             * @description `private` and `public` work with tokens, `management` with everything else.
             * @enum {string}
             */
            type: "private" | "public" | "management";
            /** @description What it may do. */
            permissions: ("reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use")[];
            /** @description Exceptions by container, the lowest priority first. */
            rules: {
                /** @description A text for people. */
                description: string;
                /** @description Rules are tried from 1 upwards. The first that covers a token decides. */
                priority: number;
                /** @description Tokens in this container and below it. */
                container: string;
                /**
                 * @description How much of the data is shown.
                 * @enum {string}
                 */
                transform: "reveal" | "mask" | "redact";
                /** @description What it may do. */
                permissions: ("reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use")[];
                /** @description Where the values may go. Left out: anywhere. */
                destinations?: string[];
            }[];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             */
            modified_at: string;
            /** @description The name in files. Left out where there is none. */
            slug?: string;
            /**
             * Format: date-time
             * @description From then on it counts as deleted.
             */
            expires_at?: string;
            /** @description The origins of the pages in browsers that may call. Left out where there are none. */
            allowed_origins?: string[];
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
            /**
             * Format: uuid
             * @description The application that changed it last.
             */
            modified_by?: string;
        };
        /**
         * @example {
         *       "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "name": "Checkout",
         *       "type": "private",
         *       "permissions": [
         *         "token:create",
         *         "token:use"
         *       ],
         *       "rules": [],
         *       "key": "key_0000000000000000000000000000000",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        CreatedApplication: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /**
             * @description The kind.
             * @enum {string}
             */
            type: "private" | "public" | "management";
            /** @description What it may do. */
            permissions: ("reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use")[];
            /** @description Exceptions by container, the lowest priority first. */
            rules: {
                /** @description A text for people. */
                description: string;
                /** @description Rules are tried from 1 upwards. The first that covers a token decides. */
                priority: number;
                /** @description Tokens in this container and below it. */
                container: string;
                /**
                 * @description How much of the data is shown.
                 * @enum {string}
                 */
                transform: "reveal" | "mask" | "redact";
                /** @description What it may do. */
                permissions: ("reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use")[];
                /** @description Where the values may go. Left out: anywhere. */
                destinations?: string[];
            }[];
            /** @description The API key. It is shown only once. */
            key: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description The name in files. Left out where there is none. */
            slug?: string;
            /**
             * Format: date-time
             * @description From then on it counts as deleted.
             */
            expires_at?: string;
            /** @description The origins of the pages in browsers that may call. Left out where there are none. */
            allowed_origins?: string[];
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
        };
        /**
         * @example {
         *       "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "name": "Checkout",
         *       "type": "private",
         *       "permissions": [
         *         "token:create",
         *         "token:use"
         *       ],
         *       "rules": [],
         *       "key": "key_0000000000000000000000000000000",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "modified_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        RegeneratedApplication: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /**
             * @description The kind.
             * @enum {string}
             */
            type: "private" | "public" | "management";
            /** @description What it may do. */
            permissions: ("reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use")[];
            /** @description Exceptions by container, the lowest priority first. */
            rules: {
                /** @description A text for people. */
                description: string;
                /** @description Rules are tried from 1 upwards. The first that covers a token decides. */
                priority: number;
                /** @description Tokens in this container and below it. */
                container: string;
                /**
                 * @description How much of the data is shown.
                 * @enum {string}
                 */
                transform: "reveal" | "mask" | "redact";
                /** @description What it may do. */
                permissions: ("reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use")[];
                /** @description Where the values may go. Left out: anywhere. */
                destinations?: string[];
            }[];
            /** @description The API key. It is shown only once. */
            key: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             */
            modified_at: string;
            /** @description The name in files. Left out where there is none. */
            slug?: string;
            /**
             * Format: date-time
             * @description From then on it counts as deleted.
             */
            expires_at?: string;
            /** @description The origins of the pages in browsers that may call. Left out where there are none. */
            allowed_origins?: string[];
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
            /**
             * Format: uuid
             * @description The application that changed it last.
             */
            modified_by?: string;
        };
        /**
         * @example {
         *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        ApplicationKey: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Accurate to the minute.
             */
            last_used_at?: string;
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
        };
        /**
         * @example {
         *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "key": "key_0000000000000000000000000000000",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        CreatedApplicationKey: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /** @description The API key. It is shown only once. */
            key: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
        };
        ApplicationPage: {
            pagination: components["schemas"]["Pagination"];
            /** @description The entries, in order. */
            data: components["schemas"]["Application"][];
        };
        /**
         * @example {
         *       "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "type": "private",
         *       "name": "Charge a card",
         *       "configuration": [
         *         {
         *           "name": "API_KEY",
         *           "type": "string"
         *         }
         *       ],
         *       "request_parameters": [
         *         {
         *           "name": "card.number",
         *           "type": "string",
         *           "optional": false,
         *           "loggable": false
         *         }
         *       ],
         *       "runtime": "node24",
         *       "code": "module.exports = async (req) => ({ raw: {} })",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "modified_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        ReactorFormula: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /**
             * @description The kind.
             * @enum {string}
             */
            type: "private";
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description The values that a reactor of it has to give. */
            configuration: {
                /** @description The name, as code reads it: `req.configuration.NAME`. */
                name: string;
                /**
                 * @description What the value has to be.
                 * @enum {string}
                 */
                type: "string" | "boolean" | "number";
                /** @description A text for people. */
                description?: string;
            }[];
            /** @description The arguments that it takes. Without any, it takes all as they come. */
            request_parameters: {
                /** @description The path of the argument: `card.number`. */
                name: string;
                /**
                 * @description What the argument is cast to.
                 * @enum {string}
                 */
                type: "string" | "boolean" | "number" | "object";
                /** @description Whether a call may leave it out. */
                optional: boolean;
                /** @description Whether its value may be shown in the output of runs. */
                loggable: boolean;
                /** @description A text for people. */
                description?: string;
            }[];
            /**
             * @description The Node.js that runs the code.
             * @enum {string}
             */
            runtime: "node16" | "node20" | "node22" | "node24";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             */
            modified_at: string;
            /** @description The name in files. Left out where there is none. */
            slug?: string;
            /** @description A text for people. */
            description?: string;
            /** @description The address of a picture, or a small picture as a data URL. */
            icon?: string;
            /**
             * Format: date
             * @description The day on which support of the runtime ended. Absent while it is supported.
             */
            runtime_end_of_life?: string;
            /** @description Of a bundle: GET /code/{sha256} has the text. */
            code_sha256?: string;
            /** @description Absent where it is a bundle. */
            code?: string;
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
            /**
             * Format: uuid
             * @description The application that changed it last.
             */
            modified_by?: string;
        };
        /**
         * @description The formula of a reactor, without its code.
         * @example {
         *       "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "type": "private",
         *       "name": "Charge a card",
         *       "configuration": [
         *         {
         *           "name": "API_KEY",
         *           "type": "string"
         *         }
         *       ],
         *       "request_parameters": [
         *         {
         *           "name": "card.number",
         *           "type": "string",
         *           "optional": false,
         *           "loggable": false
         *         }
         *       ],
         *       "runtime": "node24",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "modified_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        ReactorFormulaSummary: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /**
             * @description The kind.
             * @enum {string}
             */
            type: "private";
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description The values that a reactor of it has to give. */
            configuration: {
                /** @description The name, as code reads it: `req.configuration.NAME`. */
                name: string;
                /**
                 * @description What the value has to be.
                 * @enum {string}
                 */
                type: "string" | "boolean" | "number";
                /** @description A text for people. */
                description?: string;
            }[];
            /** @description The arguments that it takes. Without any, it takes all as they come. */
            request_parameters: {
                /** @description The path of the argument: `card.number`. */
                name: string;
                /**
                 * @description What the argument is cast to.
                 * @enum {string}
                 */
                type: "string" | "boolean" | "number" | "object";
                /** @description Whether a call may leave it out. */
                optional: boolean;
                /** @description Whether its value may be shown in the output of runs. */
                loggable: boolean;
                /** @description A text for people. */
                description?: string;
            }[];
            /**
             * @description The Node.js that runs the code.
             * @enum {string}
             */
            runtime: "node16" | "node20" | "node22" | "node24";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             */
            modified_at: string;
            /** @description The name in files. Left out where there is none. */
            slug?: string;
            /** @description A text for people. */
            description?: string;
            /** @description The address of a picture, or a small picture as a data URL. */
            icon?: string;
            /**
             * Format: date
             * @description The day on which support of the runtime ended. Absent while it is supported.
             */
            runtime_end_of_life?: string;
            /** @description Of a bundle: GET /code/{sha256} has the text. */
            code_sha256?: string;
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
            /**
             * Format: uuid
             * @description The application that changed it last.
             */
            modified_by?: string;
        };
        /**
         * @example {
         *       "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "type": "private",
         *       "name": "Charge a card",
         *       "configuration": [
         *         {
         *           "name": "API_KEY",
         *           "type": "string"
         *         }
         *       ],
         *       "request_parameters": [
         *         {
         *           "name": "card.number",
         *           "type": "string",
         *           "optional": false,
         *           "loggable": false
         *         }
         *       ],
         *       "runtime": "node24",
         *       "code": "module.exports = async (req) => ({ raw: {} })",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        CreatedReactorFormula: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /**
             * @description The kind.
             * @enum {string}
             */
            type: "private";
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description The values that a reactor of it has to give. */
            configuration: {
                /** @description The name, as code reads it: `req.configuration.NAME`. */
                name: string;
                /**
                 * @description What the value has to be.
                 * @enum {string}
                 */
                type: "string" | "boolean" | "number";
                /** @description A text for people. */
                description?: string;
            }[];
            /** @description The arguments that it takes. Without any, it takes all as they come. */
            request_parameters: {
                /** @description The path of the argument: `card.number`. */
                name: string;
                /**
                 * @description What the argument is cast to.
                 * @enum {string}
                 */
                type: "string" | "boolean" | "number" | "object";
                /** @description Whether a call may leave it out. */
                optional: boolean;
                /** @description Whether its value may be shown in the output of runs. */
                loggable: boolean;
                /** @description A text for people. */
                description?: string;
            }[];
            /**
             * @description The Node.js that runs the code.
             * @enum {string}
             */
            runtime: "node16" | "node20" | "node22" | "node24";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description The name in files. Left out where there is none. */
            slug?: string;
            /** @description A text for people. */
            description?: string;
            /** @description The address of a picture, or a small picture as a data URL. */
            icon?: string;
            /**
             * Format: date
             * @description The day on which support of the runtime ended. Absent while it is supported.
             */
            runtime_end_of_life?: string;
            /** @description Of a bundle: GET /code/{sha256} has the text. */
            code_sha256?: string;
            /** @description Absent where it is a bundle. */
            code?: string;
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
        };
        ReactorFormulaPage: {
            pagination: components["schemas"]["Pagination"];
            /** @description The entries, in order. */
            data: components["schemas"]["ReactorFormula"][];
        };
        /**
         * @example {
         *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "name": "Charge with the bank",
         *       "formula": {
         *         "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
         *         "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *         "type": "private",
         *         "name": "Charge a card",
         *         "configuration": [
         *           {
         *             "name": "API_KEY",
         *             "type": "string"
         *           }
         *         ],
         *         "request_parameters": [
         *           {
         *             "name": "card.number",
         *             "type": "string",
         *             "optional": false,
         *             "loggable": false
         *           }
         *         ],
         *         "runtime": "node24",
         *         "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *         "created_at": "2026-01-31T12:00:00.000Z",
         *         "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *         "modified_at": "2026-01-31T12:00:00.000Z"
         *       },
         *       "configuration": {
         *         "API_KEY": "secret of the bank"
         *       },
         *       "isolation": "warm",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "modified_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        Reactor: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            formula: components["schemas"]["ReactorFormulaSummary"];
            /** @description Values by name, which code reads. Stored sealed. */
            configuration: {
                [key: string]: string;
            };
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string}
             */
            isolation: "warm" | "run";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             */
            modified_at: string;
            /** @description The name in files. Left out where there is none. */
            slug?: string;
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string;
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
            /**
             * Format: uuid
             * @description The application that changed it last.
             */
            modified_by?: string;
        };
        /**
         * @example {
         *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "name": "Charge with the bank",
         *       "formula": {
         *         "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
         *         "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *         "type": "private",
         *         "name": "Charge a card",
         *         "configuration": [
         *           {
         *             "name": "API_KEY",
         *             "type": "string"
         *           }
         *         ],
         *         "request_parameters": [
         *           {
         *             "name": "card.number",
         *             "type": "string",
         *             "optional": false,
         *             "loggable": false
         *           }
         *         ],
         *         "runtime": "node24",
         *         "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *         "created_at": "2026-01-31T12:00:00.000Z",
         *         "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *         "modified_at": "2026-01-31T12:00:00.000Z"
         *       },
         *       "configuration": {
         *         "API_KEY": "secret of the bank"
         *       },
         *       "isolation": "warm",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "modified_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        UpdatedReactor: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            formula: components["schemas"]["ReactorFormulaSummary"];
            /** @description Values by name, which code reads. Stored sealed. */
            configuration: {
                [key: string]: string;
            };
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string}
             */
            isolation: "warm" | "run";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             */
            modified_at: string;
            /** @description The name in files. Left out where there is none. */
            slug?: string;
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string;
            application?: components["schemas"]["Application"];
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
            /**
             * Format: uuid
             * @description The application that changed it last.
             */
            modified_by?: string;
        };
        /**
         * @example {
         *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "name": "Charge with the bank",
         *       "formula": {
         *         "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
         *         "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *         "type": "private",
         *         "name": "Charge a card",
         *         "configuration": [
         *           {
         *             "name": "API_KEY",
         *             "type": "string"
         *           }
         *         ],
         *         "request_parameters": [
         *           {
         *             "name": "card.number",
         *             "type": "string",
         *             "optional": false,
         *             "loggable": false
         *           }
         *         ],
         *         "runtime": "node24",
         *         "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *         "created_at": "2026-01-31T12:00:00.000Z",
         *         "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *         "modified_at": "2026-01-31T12:00:00.000Z"
         *       },
         *       "configuration": {
         *         "API_KEY": "secret of the bank"
         *       },
         *       "isolation": "warm",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        CreatedReactor: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            formula: components["schemas"]["ReactorFormulaSummary"];
            /** @description Values by name, which code reads. Stored sealed. */
            configuration: {
                [key: string]: string;
            };
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string}
             */
            isolation: "warm" | "run";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description The name in files. Left out where there is none. */
            slug?: string;
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string;
            application?: components["schemas"]["Application"];
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
        };
        ReactorPage: {
            pagination: components["schemas"]["Pagination"];
            /** @description The entries, in order. */
            data: components["schemas"]["Reactor"][];
        };
        RequestStep: {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "mask";
            /** @description What it works on. */
            options: {
                /** @description JSONPath: $.card.number, $.items[*].card, $..number */
                path: string;
                /** @description A filter, such as `reveal_last: 4`. */
                expression: string;
                /** @description true: the call ends with 400, or 502 for an answer, where the path matches nothing */
                required?: boolean;
            };
            /** @description Counts as `required` in `options` */
            required?: boolean;
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "tokenize";
            /** @description What it works on. */
            options: {
                /** @description JSONPath: $.card.number, $.items[*].card, $..number */
                path: string;
                /** @description The token that is made of each value at the path. */
                token: {
                    /**
                     * @description The type, which decides the form of the data and its mask.
                     * @enum {string}
                     */
                    type: "token" | "card" | "bank" | "card_number" | "us_bank_account_number" | "us_bank_routing_number" | "social_security_number" | "employer_id_number";
                    /** @description The container that it is in. */
                    containers?: string[];
                    /** @description Texts by name, stored in the clear: lists filter by them. */
                    metadata?: {
                        [key: string]: string;
                    };
                    /** @description Where the values may go: hosts, with a port or the beginning of a path. */
                    destinations?: string[];
                    /** @description Expressions over the data, by whose values it is found. */
                    search_indexes?: string[];
                    /** @description What of the data the fingerprint is made of. */
                    fingerprint_expression?: string;
                    /** @description What is shown in the place of the data, with expressions over it. */
                    mask?: unknown;
                    /** @description Whether a token with the same fingerprint is answered in place of a new one. */
                    deduplicate_token?: boolean;
                    /**
                     * Format: date-time
                     * @description From then on it counts as deleted.
                     */
                    expires_at?: string;
                };
                /** @description true: the call ends with 400, or 502 for an answer, where the path matches nothing */
                required?: boolean;
            };
            /** @description Counts as `required` in `options` */
            required?: boolean;
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "append";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "header";
                /** @description The name of the header or of the parameter of the query. */
                name: string;
                /** @description What is put there. In a request it may hold expressions, which act as the application. */
                value: string;
            };
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "append";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "body";
                /** @description JSONPath: $.card.number, $.items[*].card, $..number */
                path: string;
                /** @description What is put there. In a request it may hold expressions, which act as the application. */
                value: unknown;
                /** @description true: the call ends with 400, or 502 for an answer, where the path matches nothing */
                required?: boolean;
            };
            /** @description Counts as `required` in `options` */
            required?: boolean;
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "remove";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "header";
                /** @description The name of the header or of the parameter of the query. */
                name: string;
            };
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "remove";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "body";
                /** @description JSONPath: $.card.number, $.items[*].card, $..number */
                path: string;
                /** @description true: the call ends with 400, or 502 for an answer, where the path matches nothing */
                required?: boolean;
            };
            /** @description Counts as `required` in `options` */
            required?: boolean;
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "detokenize";
            /** @description What it works on. */
            options: {
                /** @description JSONPath: $.card.number, $.items[*].card, $..number */
                path: string;
                /**
                 * @description `false` leaves what is at the path as it is.
                 * @enum {boolean}
                 */
                enabled: false;
                /** @description true: the call ends with 400, or 502 for an answer, where the path matches nothing */
                required?: boolean;
            };
            /** @description Counts as `required` in `options` */
            required?: boolean;
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "append";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "query";
                /** @description The name of the header or of the parameter of the query. */
                name: string;
                /** @description What is put there. In a request it may hold expressions, which act as the application. */
                value: string;
            };
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "remove";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "query";
                /** @description The name of the header or of the parameter of the query. */
                name: string;
            };
        };
        ResponseStep: {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "mask";
            /** @description What it works on. */
            options: {
                /** @description JSONPath: $.card.number, $.items[*].card, $..number */
                path: string;
                /** @description A filter, such as `reveal_last: 4`. */
                expression: string;
                /** @description true: the call ends with 400, or 502 for an answer, where the path matches nothing */
                required?: boolean;
            };
            /** @description Counts as `required` in `options` */
            required?: boolean;
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "tokenize";
            /** @description What it works on. */
            options: {
                /** @description JSONPath: $.card.number, $.items[*].card, $..number */
                path: string;
                /** @description The token that is made of each value at the path. */
                token: {
                    /**
                     * @description The type, which decides the form of the data and its mask.
                     * @enum {string}
                     */
                    type: "token" | "card" | "bank" | "card_number" | "us_bank_account_number" | "us_bank_routing_number" | "social_security_number" | "employer_id_number";
                    /** @description The container that it is in. */
                    containers?: string[];
                    /** @description Texts by name, stored in the clear: lists filter by them. */
                    metadata?: {
                        [key: string]: string;
                    };
                    /** @description Where the values may go: hosts, with a port or the beginning of a path. */
                    destinations?: string[];
                    /** @description Expressions over the data, by whose values it is found. */
                    search_indexes?: string[];
                    /** @description What of the data the fingerprint is made of. */
                    fingerprint_expression?: string;
                    /** @description What is shown in the place of the data, with expressions over it. */
                    mask?: unknown;
                    /** @description Whether a token with the same fingerprint is answered in place of a new one. */
                    deduplicate_token?: boolean;
                    /**
                     * Format: date-time
                     * @description From then on it counts as deleted.
                     */
                    expires_at?: string;
                };
                /** @description true: the call ends with 400, or 502 for an answer, where the path matches nothing */
                required?: boolean;
            };
            /** @description Counts as `required` in `options` */
            required?: boolean;
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "append";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "header";
                /** @description The name of the header or of the parameter of the query. */
                name: string;
                /** @description What is put there. In a request it may hold expressions, which act as the application. */
                value: string;
            };
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "append";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "body";
                /** @description JSONPath: $.card.number, $.items[*].card, $..number */
                path: string;
                /** @description What is put there. In a request it may hold expressions, which act as the application. */
                value: unknown;
                /** @description true: the call ends with 400, or 502 for an answer, where the path matches nothing */
                required?: boolean;
            };
            /** @description Counts as `required` in `options` */
            required?: boolean;
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "remove";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "header";
                /** @description The name of the header or of the parameter of the query. */
                name: string;
            };
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "remove";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "body";
                /** @description JSONPath: $.card.number, $.items[*].card, $..number */
                path: string;
                /** @description true: the call ends with 400, or 502 for an answer, where the path matches nothing */
                required?: boolean;
            };
            /** @description Counts as `required` in `options` */
            required?: boolean;
        };
        KeepableRequestStep: components["schemas"]["RequestStep"] | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "append";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "header";
                /** @description The name of the header or of the parameter of the query. */
                name: string;
                /**
                 * @description In the place of a value: the one stays that is stored for this place of this list.
                 * @enum {boolean}
                 */
                value_set: true;
            };
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "append";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "body";
                /** @description JSONPath: $.card.number, $.items[*].card, $..number */
                path: string;
                /**
                 * @description In the place of a value: the one stays that is stored for this place of this list.
                 * @enum {boolean}
                 */
                value_set: true;
                /** @description true: the call ends with 400, or 502 for an answer, where the path matches nothing */
                required?: boolean;
            };
            /** @description Counts as `required` in `options` */
            required?: boolean;
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "append";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "query";
                /** @description The name of the header or of the parameter of the query. */
                name: string;
                /**
                 * @description In the place of a value: the one stays that is stored for this place of this list.
                 * @enum {boolean}
                 */
                value_set: true;
            };
        };
        KeepableResponseStep: components["schemas"]["ResponseStep"] | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "append";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "header";
                /** @description The name of the header or of the parameter of the query. */
                name: string;
                /**
                 * @description In the place of a value: the one stays that is stored for this place of this list.
                 * @enum {boolean}
                 */
                value_set: true;
            };
        } | {
            /**
             * @description What the step does.
             * @enum {string}
             */
            type: "append";
            /** @description What it works on. */
            options: {
                /**
                 * @description The part of the message.
                 * @enum {string}
                 */
                location: "body";
                /** @description JSONPath: $.card.number, $.items[*].card, $..number */
                path: string;
                /**
                 * @description In the place of a value: the one stays that is stored for this place of this list.
                 * @enum {boolean}
                 */
                value_set: true;
                /** @description true: the call ends with 400, or 502 for an answer, where the path matches nothing */
                required?: boolean;
            };
            /** @description Counts as `required` in `options` */
            required?: boolean;
        };
        /**
         * @example {
         *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "key": "4xYQ0bN2mVtW8rZc6KpLsE",
         *       "name": "The bank",
         *       "destination_url": "https://api.bank.example",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "require_auth": true,
         *       "detokenize": true,
         *       "isolation": "warm",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "modified_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        Proxy: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /** @description Calls of /proxy name the proxy by this key. */
            key: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description Where calls go. They append their path and query. */
            destination_url: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /** @description Whether calls need a key of an application with `token:use`. */
            require_auth: boolean;
            /** @description Whether expressions in requests are replaced. */
            detokenize: boolean;
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string}
             */
            isolation: "warm" | "run";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             */
            modified_at: string;
            /** @description The name in files. Left out where there is none. */
            slug?: string;
            /** @description Code that changes the request. */
            request_transform?: {
                /** @description Absent where it is a bundle. */
                code?: string;
                /** @description Of a bundle: GET /code/{sha256} has the text. */
                code_sha256?: string;
                /**
                 * @description The Node.js that runs the code.
                 * @enum {string}
                 */
                runtime?: "node16" | "node20" | "node22" | "node24";
                /**
                 * Format: date
                 * @description The day on which support of the runtime ended. Absent while it is supported.
                 */
                runtime_end_of_life?: string;
            };
            /** @description Code that changes the answer. */
            response_transform?: {
                /** @description Absent where it is a bundle. */
                code?: string;
                /** @description Of a bundle: GET /code/{sha256} has the text. */
                code_sha256?: string;
                /**
                 * @description The Node.js that runs the code.
                 * @enum {string}
                 */
                runtime?: "node16" | "node20" | "node22" | "node24";
                /**
                 * Format: date
                 * @description The day on which support of the runtime ended. Absent while it is supported.
                 */
                runtime_end_of_life?: string;
            };
            /** @description Changes of the request without code. They run in order, before the request transform. */
            request_transforms?: components["schemas"]["RequestStep"][];
            /** @description Changes of the answer without code. They run in order, after the response transform. */
            response_transforms?: components["schemas"]["ResponseStep"][];
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string;
            /** @description Values by name, which code reads. Stored sealed. */
            configuration?: {
                [key: string]: string;
            };
            /** @description How long the destination may take to answer, in milliseconds. */
            timeout_ms?: number;
            /**
             * @description Whether what a call puts in is taken out of its answer.
             * @enum {boolean}
             */
            scrub?: true;
            /** @description The certificate that the proxy shows to the destination. */
            client_certificate?: {
                /** @description The certificate as PEM. Intermediate ones may follow it. */
                certificate: string;
            };
            /** @description The authorities as PEM that vouch for the destination. */
            certificate_authority?: string;
            /** @description The origins of the pages in browsers that may call. Left out where there are none. */
            allowed_origins?: string[];
            /** @description The requests of forward mode that it handles. The most specific proxy handles a request. */
            match?: {
                /** @description `host`, `*.host`, either with `:port`. https, unless `http://` stands before it. */
                hosts: string[];
                /** @description Without them: all. */
                methods?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS")[];
                /** @description Beginnings of paths, by whole segments. Without them: all. */
                paths?: string[];
            };
            /**
             * @description `request`: to the origin that the request names, in place of `destination_url`.
             * @enum {string}
             */
            forward_to?: "request";
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
            /**
             * Format: uuid
             * @description The application that changed it last.
             */
            modified_by?: string;
        };
        /**
         * @example {
         *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "key": "4xYQ0bN2mVtW8rZc6KpLsE",
         *       "name": "The bank",
         *       "destination_url": "https://api.bank.example",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "require_auth": true,
         *       "detokenize": true,
         *       "isolation": "warm",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        CreatedProxy: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /** @description Calls of /proxy name the proxy by this key. */
            key: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description Where calls go. They append their path and query. */
            destination_url: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /** @description Whether calls need a key of an application with `token:use`. */
            require_auth: boolean;
            /** @description Whether expressions in requests are replaced. */
            detokenize: boolean;
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string}
             */
            isolation: "warm" | "run";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description The name in files. Left out where there is none. */
            slug?: string;
            /** @description Code that changes the request. */
            request_transform?: {
                /** @description Absent where it is a bundle. */
                code?: string;
                /** @description Of a bundle: GET /code/{sha256} has the text. */
                code_sha256?: string;
                /**
                 * @description The Node.js that runs the code.
                 * @enum {string}
                 */
                runtime?: "node16" | "node20" | "node22" | "node24";
                /**
                 * Format: date
                 * @description The day on which support of the runtime ended. Absent while it is supported.
                 */
                runtime_end_of_life?: string;
            };
            /** @description Code that changes the answer. */
            response_transform?: {
                /** @description Absent where it is a bundle. */
                code?: string;
                /** @description Of a bundle: GET /code/{sha256} has the text. */
                code_sha256?: string;
                /**
                 * @description The Node.js that runs the code.
                 * @enum {string}
                 */
                runtime?: "node16" | "node20" | "node22" | "node24";
                /**
                 * Format: date
                 * @description The day on which support of the runtime ended. Absent while it is supported.
                 */
                runtime_end_of_life?: string;
            };
            /** @description Changes of the request without code. They run in order, before the request transform. */
            request_transforms?: components["schemas"]["RequestStep"][];
            /** @description Changes of the answer without code. They run in order, after the response transform. */
            response_transforms?: components["schemas"]["ResponseStep"][];
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string;
            /** @description Values by name, which code reads. Stored sealed. */
            configuration?: {
                [key: string]: string;
            };
            /** @description How long the destination may take to answer, in milliseconds. */
            timeout_ms?: number;
            /**
             * @description Whether what a call puts in is taken out of its answer.
             * @enum {boolean}
             */
            scrub?: true;
            /** @description The certificate that the proxy shows to the destination. */
            client_certificate?: {
                /** @description The certificate as PEM. Intermediate ones may follow it. */
                certificate: string;
            };
            /** @description The authorities as PEM that vouch for the destination. */
            certificate_authority?: string;
            /** @description The origins of the pages in browsers that may call. Left out where there are none. */
            allowed_origins?: string[];
            /** @description The requests of forward mode that it handles. The most specific proxy handles a request. */
            match?: {
                /** @description `host`, `*.host`, either with `:port`. https, unless `http://` stands before it. */
                hosts: string[];
                /** @description Without them: all. */
                methods?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS")[];
                /** @description Beginnings of paths, by whole segments. Without them: all. */
                paths?: string[];
            };
            /**
             * @description `request`: to the origin that the request names, in place of `destination_url`.
             * @enum {string}
             */
            forward_to?: "request";
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
        };
        ProxyPage: {
            pagination: components["schemas"]["Pagination"];
            /** @description The entries, in order. */
            data: components["schemas"]["Proxy"][];
        };
        /**
         * @description Stored data, as far as the caller may see it.
         * @example {
         *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "type": "card",
         *       "data": {
         *         "number": "XXXXXXXXXXXX4242",
         *         "expiration_month": 12,
         *         "expiration_year": 2030
         *       },
         *       "containers": [
         *         "/pci/high/"
         *       ],
         *       "fingerprint": "nV1hTz0lq0m3J8Y2n7fX5q0r2y8kq9m4H1s6Zc3dWfA",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "modified_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        Token: {
            /** @description The id. */
            id: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /** @description The type, which decides the form of the data and its mask. */
            type: string;
            /** @description The container that it is in. */
            containers: string[];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             */
            modified_at: string;
            /** @description The data where a rule reveals it, the mask where a permission or rule masks it. */
            data?: unknown;
            /** @description The mask as it was given. Without one, the mask of the type applies. */
            mask?: unknown;
            /** @description Texts by name, stored in the clear: lists filter by them. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Where the values may go. Left out: anywhere. */
            destinations?: string[];
            /** @description Equal for tokens of the same type and data. */
            fingerprint?: string;
            /** @description What of the data the fingerprint is made of. */
            fingerprint_expression?: string;
            /** @description Expressions over the data, by whose values it is found. */
            search_indexes?: string[];
            /**
             * Format: date-time
             * @description From then on it counts as deleted.
             */
            expires_at?: string;
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
            /**
             * Format: uuid
             * @description The application that changed it last.
             */
            modified_by?: string;
        };
        /**
         * @example {
         *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "type": "card",
         *       "data": {
         *         "number": "XXXXXXXXXXXX4242",
         *         "expiration_month": 12,
         *         "expiration_year": 2030
         *       },
         *       "containers": [
         *         "/pci/high/"
         *       ],
         *       "fingerprint": "nV1hTz0lq0m3J8Y2n7fX5q0r2y8kq9m4H1s6Zc3dWfA",
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        CreatedToken: {
            /** @description The id. */
            id: string;
            /**
             * Format: uuid
             * @description The tenant that owns it.
             */
            tenant_id: string;
            /** @description The type, which decides the form of the data and its mask. */
            type: string;
            /** @description The container that it is in. */
            containers: string[];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description The data where a rule reveals it, the mask where a permission or rule masks it. */
            data?: unknown;
            /** @description The mask as it was given. Without one, the mask of the type applies. */
            mask?: unknown;
            /** @description Texts by name, stored in the clear: lists filter by them. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Where the values may go. Left out: anywhere. */
            destinations?: string[];
            /** @description Equal for tokens of the same type and data. */
            fingerprint?: string;
            /** @description What of the data the fingerprint is made of. */
            fingerprint_expression?: string;
            /** @description Expressions over the data, by whose values it is found. */
            search_indexes?: string[];
            /**
             * Format: date-time
             * @description From then on it counts as deleted.
             */
            expires_at?: string;
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
        };
        TokenPage: {
            pagination: components["schemas"]["Pagination"];
            /** @description The entries, in order. */
            data: components["schemas"]["Token"][];
        };
        /**
         * @example {
         *       "allowed": true,
         *       "container": "/pci/high/",
         *       "transform": "mask",
         *       "by": "rule",
         *       "rule": {
         *         "description": "",
         *         "priority": 1,
         *         "container": "/pci/",
         *         "transform": "mask",
         *         "permissions": [
         *           "token:read"
         *         ]
         *       },
         *       "reason": "A rule for /pci/ of priority 1 gives the mask."
         *     }
         */
        Decision: {
            /** @description Whether the application may. */
            allowed: boolean;
            /** @description That of the token, by which rules decide. */
            container: string;
            /**
             * @description How much of the data the application gets. Null: nothing covers the token.
             * @enum {string|null}
             */
            transform: "reveal" | "mask" | "redact" | null;
            /**
             * @description What decides: a rule, or the permission itself.
             * @enum {string|null}
             */
            by: "rule" | "permission" | null;
            /** @description Why, in words. */
            reason: string;
            /** @description The one that decides. */
            rule?: {
                /** @description A text for people. */
                description: string;
                /** @description Rules are tried from 1 upwards. The first that covers a token decides. */
                priority: number;
                /** @description Tokens in this container and below it. */
                container: string;
                /**
                 * @description How much of the data is shown.
                 * @enum {string}
                 */
                transform: "reveal" | "mask" | "redact";
                /** @description What it may do. */
                permissions: ("reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use")[];
                /** @description Where the values may go. Left out: anywhere. */
                destinations?: string[];
            };
            shown?: components["schemas"]["Token"];
        };
        /**
         * @example {
         *       "id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
         *       "name": "Shop",
         *       "settings": {},
         *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "modified_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        Tenant: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description Settings of the tenant. */
            settings: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was changed last.
             */
            modified_at: string;
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
            /**
             * Format: uuid
             * @description The application that changed it last.
             */
            modified_by?: string;
        };
        /**
         * @example {
         *       "id": "4711",
         *       "actor_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "actor": {
         *         "type": "application",
         *         "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *         "name": "management"
         *       },
         *       "operation": "proxy.create",
         *       "entity_type": "proxy",
         *       "entity_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "outcome": "success",
         *       "trace_id": "order-7",
         *       "created_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        LogLine: {
            /** @description The id. */
            id: string;
            /** @description What was done. */
            operation: string;
            /** @description The kind of what it was done to. */
            entity_type: string;
            /** @description The id of what it was done to. */
            entity_id: string;
            /** @description How it ended. */
            outcome: string;
            /** @description The `SVC-TRACE-ID` of the call. */
            trace_id: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The id of the application or person that did it.
             */
            actor_id?: string;
            /** @description The application or person that did it. */
            actor?: {
                /**
                 * @description A person of the console, or an application.
                 * @enum {string}
                 */
                type: "person" | "application";
                /**
                 * Format: uuid
                 * @description The id of the application or person.
                 */
                id: string;
                /** @description A name for people. It need not be unique. */
                name?: string;
            };
            /** @description The tokens that were used. */
            token_ids?: string[];
            /** @description The host that data went to. */
            destination_host?: string;
            /** @description Why, as the person said. */
            reason?: string;
        };
        LogPage: {
            pagination: components["schemas"]["Pagination"];
            /** @description The entries, in order. */
            data: components["schemas"]["LogLine"][];
        };
        /**
         * @example {
         *       "kind": "reactor",
         *       "slug": "charge",
         *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "change": "updated",
         *       "members": [
         *         "formula.code"
         *       ]
         *     }
         */
        DeploymentChange: {
            /**
             * @description What it is.
             * @enum {string}
             */
            kind: "application" | "reactor" | "proxy";
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug: string;
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * @description What the deployment does to it.
             * @enum {string}
             */
            change: "created" | "updated" | "unchanged" | "pruned";
            /** @description The members that an update changes. */
            members?: string[];
            /** @description In a dry run, of what stands: send it to overwrite that. */
            etag?: string;
        };
        /**
         * @example {
         *       "kind": "reactor",
         *       "slug": "charge",
         *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "members": [
         *         "formula.code"
         *       ],
         *       "etag": "\"q0m3J8Y2n7fX5q0r2y8kq9\""
         *     }
         */
        DeploymentConflict: {
            /**
             * @description What it is.
             * @enum {string}
             */
            kind: "application" | "reactor" | "proxy";
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug: string;
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /** @description Their names; those of a formula by path. */
            members: string[];
            /** @description The other project that put it in force. */
            project?: string;
            /** @description Of what stands. Absent: it was deleted. */
            etag?: string;
            /** @description The members as files put them in force. */
            deployed?: unknown;
            /** @description The members as they stand. */
            current?: unknown;
        };
        /**
         * @example {
         *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "changes": [
         *         {
         *           "kind": "reactor",
         *           "slug": "charge",
         *           "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *           "change": "updated",
         *           "members": [
         *             "formula.code"
         *           ]
         *         }
         *       ]
         *     }
         */
        Deployed: {
            /** @description What the deployment does to each resource. */
            changes: components["schemas"]["DeploymentChange"][];
            /**
             * Format: uuid
             * @description Of the deployment; where nothing changed, of the newest one of the project. Absent in a dry run.
             */
            id?: string;
        };
        /**
         * @example {
         *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "counts": {
         *         "created": 0,
         *         "updated": 1,
         *         "unchanged": 0,
         *         "pruned": 0
         *       },
         *       "trace_id": "push-7",
         *       "message": "Retry declined cards",
         *       "project": "shop",
         *       "created_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        Deployment: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /** @description Of the resources, by what the deployment did to them. */
            counts: {
                /** @description Resources that were made. */
                created: number;
                /** @description Resources that were changed. */
                updated: number;
                /** @description Resources that stayed as they were. */
                unchanged: number;
                /** @description Resources that were deleted. */
                pruned: number;
            };
            /** @description The `SVC-TRACE-ID` of the call. */
            trace_id: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description Why, in the words of its author. */
            message?: string;
            /** @description The project whose files it put in force. */
            project?: string;
            /**
             * Format: uuid
             * @description The deployment that it returned to.
             */
            rollback_of?: string;
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
            /** @description The application or person that did it. */
            actor?: {
                /**
                 * @description A person of the console, or an application.
                 * @enum {string}
                 */
                type: "person" | "application";
                /**
                 * Format: uuid
                 * @description The id of the application or person.
                 */
                id: string;
                /** @description A name for people. It need not be unique. */
                name?: string;
            };
        };
        /**
         * @example {
         *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "counts": {
         *         "created": 0,
         *         "updated": 1,
         *         "unchanged": 0,
         *         "pruned": 0
         *       },
         *       "trace_id": "push-7",
         *       "message": "Retry declined cards",
         *       "project": "shop",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "changes": [
         *         {
         *           "kind": "reactor",
         *           "slug": "charge",
         *           "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *           "change": "updated",
         *           "members": [
         *             "formula.code"
         *           ]
         *         }
         *       ]
         *     }
         */
        DeploymentDetails: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /** @description Of the resources, by what the deployment did to them. */
            counts: {
                /** @description Resources that were made. */
                created: number;
                /** @description Resources that were changed. */
                updated: number;
                /** @description Resources that stayed as they were. */
                unchanged: number;
                /** @description Resources that were deleted. */
                pruned: number;
            };
            /** @description The `SVC-TRACE-ID` of the call. */
            trace_id: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description What the deployment does to each resource. */
            changes: components["schemas"]["DeploymentChange"][];
            /** @description Why, in the words of its author. */
            message?: string;
            /** @description The project whose files it put in force. */
            project?: string;
            /**
             * Format: uuid
             * @description The deployment that it returned to.
             */
            rollback_of?: string;
            /**
             * Format: uuid
             * @description The application that made it. Absent where the operator or a person did.
             */
            created_by?: string;
            /** @description The application or person that did it. */
            actor?: {
                /**
                 * @description A person of the console, or an application.
                 * @enum {string}
                 */
                type: "person" | "application";
                /**
                 * Format: uuid
                 * @description The id of the application or person.
                 */
                id: string;
                /** @description A name for people. It need not be unique. */
                name?: string;
            };
        };
        DeploymentPage: {
            pagination: components["schemas"]["CursorPagination"];
            /** @description The entries, in order. */
            data: components["schemas"]["Deployment"][];
        };
        /**
         * @example {
         *       "sha256": "c77a0b37e58dd2ec1e54ff6b4c9d0e3b81a2f5d6e7c8091a2b3c4d5e6f708192",
         *       "held_until": "2026-01-31T13:00:00.000Z"
         *     }
         */
        UploadedCode: {
            /** @description The SHA-256 of the text, in lower-case hexadecimal digits. */
            sha256: string;
            /**
             * Format: date-time
             * @description It stays at least so long without a resource that names it.
             */
            held_until: string;
        };
        /**
         * @example {
         *       "sha256": "c77a0b37e58dd2ec1e54ff6b4c9d0e3b81a2f5d6e7c8091a2b3c4d5e6f708192"
         *     }
         */
        UploadedMap: {
            /** @description The SHA-256 of the text, in lower-case hexadecimal digits. */
            sha256: string;
        };
        /**
         * @example {
         *       "sha256": "c77a0b37e58dd2ec1e54ff6b4c9d0e3b81a2f5d6e7c8091a2b3c4d5e6f708192",
         *       "code": "module.exports = async (req) => ({ raw: {} });"
         *     }
         */
        CodeText: {
            /** @description The SHA-256 of the text, in lower-case hexadecimal digits. */
            sha256: string;
            /** @description CommonJS that exports one function. */
            code: string;
        };
        /**
         * @description The capture that is on.
         * @example {
         *       "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
         *       "until": "2026-01-31T12:10:00.000Z",
         *       "whole": false
         *     }
         */
        CaptureWindow: {
            /**
             * Format: uuid
             * @description The proxy.
             */
            proxy_id: string;
            /**
             * Format: date-time
             * @description When it ends by itself.
             */
            until: string;
            /** @description Whether texts are kept, and not shapes alone. */
            whole: boolean;
        };
        /**
         * @example {
         *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
         *       "trace_id": "order-7",
         *       "method": "POST",
         *       "whole": false,
         *       "bytes": 812,
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "status": 201
         *     }
         */
        CaptureLine: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The proxy.
             */
            proxy_id: string;
            /** @description The `SVC-TRACE-ID` of the call. */
            trace_id: string;
            /** @description The method. */
            method: string;
            /** @description It holds texts, and not shapes alone. */
            whole: boolean;
            /** @description Of what is stored. */
            bytes: number;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description Absent where the caller left before an answer. */
            status?: number;
            /** @description The code of the error that the call was answered with. */
            code?: string;
        };
        CapturePage: {
            pagination: components["schemas"]["CursorPagination"];
            /** @description The entries, in order. */
            data: components["schemas"]["CaptureLine"][];
            window?: components["schemas"]["CaptureWindow"];
        };
        /**
         * @example {
         *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
         *       "trace_id": "order-7",
         *       "method": "POST",
         *       "whole": false,
         *       "bytes": 812,
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "status": 201,
         *       "request": {
         *         "method": "POST",
         *         "path": "/charges",
         *         "headers": [
         *           [
         *             "content-type",
         *             "application/json"
         *           ]
         *         ],
         *         "body": {
         *           "format": "json",
         *           "type": "application/json",
         *           "bytes": 33,
         *           "text": "{ amount: <number 4> }"
         *         }
         *       },
         *       "sent": {
         *         "method": "POST",
         *         "path": "/charges",
         *         "headers": [
         *           [
         *             "content-type",
         *             "application/json"
         *           ]
         *         ],
         *         "body": {
         *           "format": "json",
         *           "type": "application/json",
         *           "bytes": 33,
         *           "text": "{ amount: <number 4> }"
         *         }
         *       },
         *       "received": {
         *         "status": 201,
         *         "headers": [
         *           [
         *             "content-type",
         *             "application/json"
         *           ]
         *         ]
         *       }
         *     }
         */
        Capture: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The proxy.
             */
            proxy_id: string;
            /** @description The `SVC-TRACE-ID` of the call. */
            trace_id: string;
            /** @description The method. */
            method: string;
            /** @description It holds texts, and not shapes alone. */
            whole: boolean;
            /** @description Of what is stored. */
            bytes: number;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description As the caller sent it. */
            request: {
                /** @description The method. */
                method: string;
                /** @description The path behind `/proxy`. */
                path: string;
                /** @description Name and shape of the value, in their order. */
                headers: string[][];
                /** @description The terms. */
                query?: string;
                /** @description The host, without a port. */
                host?: string;
                /** @description The body, as text. */
                body?: {
                    /**
                     * @description What the body was read as.
                     * @enum {string}
                     */
                    format: "json" | "form" | "text" | "multipart" | "encoded" | "binary";
                    /** @description Of the whole body. */
                    bytes: number;
                    /** @description The media type. */
                    type?: string;
                    /** @description For people, and no JSON: `<string 16>` is a value of 16 characters, `<name 20>` a name that may be data, `<hidden>` a key or a password. Absent where the body is no text. */
                    text?: string;
                    /** @description Only the beginning is there. */
                    cut?: boolean;
                };
            };
            /** @description Absent where the caller left before an answer. */
            status?: number;
            /** @description The code of the error that the call was answered with. */
            code?: string;
            /** @description As it left for the destination. */
            sent?: {
                /** @description The method. */
                method: string;
                /** @description The path behind `/proxy`. */
                path: string;
                /** @description Name and shape of the value, in their order. */
                headers: string[][];
                /** @description The terms. */
                query?: string;
                /** @description The host, without a port. */
                host?: string;
                /** @description The body, as text. */
                body?: {
                    /**
                     * @description What the body was read as.
                     * @enum {string}
                     */
                    format: "json" | "form" | "text" | "multipart" | "encoded" | "binary";
                    /** @description Of the whole body. */
                    bytes: number;
                    /** @description The media type. */
                    type?: string;
                    /** @description For people, and no JSON: `<string 16>` is a value of 16 characters, `<name 20>` a name that may be data, `<hidden>` a key or a password. Absent where the body is no text. */
                    text?: string;
                    /** @description Only the beginning is there. */
                    cut?: boolean;
                };
            };
            /** @description As the destination answered. */
            received?: {
                /** @description Where it stands. */
                status: number;
                /** @description Name and shape of the value, in their order. */
                headers: string[][];
                /** @description The body, as text. */
                body?: {
                    /**
                     * @description What the body was read as.
                     * @enum {string}
                     */
                    format: "json" | "form" | "text" | "multipart" | "encoded" | "binary";
                    /** @description Of the whole body. */
                    bytes: number;
                    /** @description The media type. */
                    type?: string;
                    /** @description For people, and no JSON: `<string 16>` is a value of 16 characters, `<name 20>` a name that may be data, `<hidden>` a key or a password. Absent where the body is no text. */
                    text?: string;
                    /** @description Only the beginning is there. */
                    cut?: boolean;
                };
            };
            /** @description As the caller got it, where transforms or steps made it. Else it is `received`. */
            answer?: {
                /** @description Where it stands. */
                status: number;
                /** @description Name and shape of the value, in their order. */
                headers: string[][];
                /** @description The body, as text. */
                body?: {
                    /**
                     * @description What the body was read as.
                     * @enum {string}
                     */
                    format: "json" | "form" | "text" | "multipart" | "encoded" | "binary";
                    /** @description Of the whole body. */
                    bytes: number;
                    /** @description The media type. */
                    type?: string;
                    /** @description For people, and no JSON: `<string 16>` is a value of 16 characters, `<name 20>` a name that may be data, `<hidden>` a key or a password. Absent where the body is no text. */
                    text?: string;
                    /** @description Only the beginning is there. */
                    cut?: boolean;
                };
            };
        };
        /**
         * @example {
         *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "after": "0",
         *       "lease_seconds": 60
         *     }
         */
        WebhookListener: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /** @description The cursor of the first reading. */
            after: string;
            /** @description How long the listener lasts from each reading on. */
            lease_seconds: number;
            /**
             * Format: uuid
             * @description It gets webhooks of this reactor alone.
             */
            reactor_id?: string;
        };
        /**
         * @example {
         *       "after": "1",
         *       "data": [
         *         {
         *           "id": "0f8fad5b-d9cb-469f-a165-70867728950e",
         *           "webhook_id": "msg_0f8fad5b-d9cb-469f-a165-70867728950e",
         *           "reactor_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *           "created_at": "2026-01-31T12:00:00.000Z",
         *           "headers": {
         *             "content-type": "application/json",
         *             "webhook-id": "msg_0f8fad5b-d9cb-469f-a165-70867728950e",
         *             "webhook-timestamp": "1767225600",
         *             "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
         *           },
         *           "body": "{\"raw\":{\"last4\":\"4242\"}}"
         *         }
         *       ]
         *     }
         */
        WebhookCopies: {
            /** @description The cursor of the next reading: it confirms these copies. */
            after: string;
            /** @description The copies, in their order. */
            data: {
                /**
                 * Format: uuid
                 * @description The id.
                 */
                id: string;
                /** @description The `webhook-id` of every attempt. */
                webhook_id: string;
                /**
                 * Format: date-time
                 * @description When it was made.
                 */
                created_at: string;
                /**
                 * Format: uuid
                 * @description The reactor.
                 */
                reactor_id?: string;
                /** @description Those of Standard Webhooks, signed anew for each reading. */
                headers?: {
                    /** @description JSON. */
                    "content-type": string;
                    /** @description The same in every attempt. */
                    "webhook-id": string;
                    /** @description Seconds since 1970. */
                    "webhook-timestamp": string;
                    /** @description One for each valid secret. */
                    "webhook-signature": string;
                };
                /** @description The same bytes as in the original. */
                body?: string;
                /**
                 * @description Why there is no body: the data of a token in it is gone, or whoever opened it may not open it now.
                 * @enum {string}
                 */
                withheld?: "gone" | "refused";
            }[];
        };
        /**
         * @example {
         *       "status": "completed",
         *       "result": {
         *         "raw": {
         *           "sum": 42
         *         }
         *       },
         *       "lines": [],
         *       "duration_ms": 12
         *     }
         */
        ReactorDryRun: {
            /**
             * @description Where it stands.
             * @enum {string}
             */
            status: "completed" | "failed";
            /** @description The output of `console`. */
            lines: {
                /**
                 * Format: date-time
                 * @description When.
                 */
                at: string;
                /** @description `info`, `warn`, `error` or `debug`. */
                level: string;
                /** @description The text. */
                text: string;
            }[];
            /** @description Milliseconds of work. */
            duration_ms: number;
            /** @description What the code returned. */
            result?: unknown;
            /** @description The error that a call would answer, with what the log of runs would keep. */
            error?: {
                /** @description The same for every error with this code. */
                title: string;
                /** @description The HTTP status. */
                status: number;
                /** @description The stable name of the error. Decide by it. */
                code: string;
                /** @description The message of the error. */
                message: string;
                /** @description More about this error. Its wording may change. */
                detail?: string;
                /** @description Where it failed, and why. */
                cause?: {
                    /** @description How far the call had come. */
                    phase: string;
                    /** @description Why, in words that may change. */
                    reason: string;
                    /** @description The address, where the URL has it in the place of a name. */
                    address?: string;
                    /** @description The port, where the URL names one. */
                    port?: number;
                    /** @description The status of the destination, where it had answered. */
                    destination_status?: number;
                };
                /** @description Messages by the path of a member. */
                errors?: {
                    [key: string]: string[];
                };
                /** @description The place in the code. */
                position?: {
                    /** @description The line, from 1. */
                    line: number;
                    /** @description The column, from 1. */
                    column: number;
                    /** @description The file of the place. Absent: it is the code that ran. */
                    source?: string;
                };
                /** @description The calls in the code, the innermost first. */
                stack?: {
                    /** @description The line, from 1. */
                    line: number;
                    /** @description The column, from 1. */
                    column: number;
                    /** @description The name of the function. */
                    function?: string;
                    /** @description The file of the place. Absent: it is the code that ran. */
                    source?: string;
                }[];
            };
        };
        /**
         * @example {
         *       "status": "completed",
         *       "request": {
         *         "method": "POST",
         *         "url": "https://api.bank.example/pay",
         *         "headers": {},
         *         "body": "{}"
         *       },
         *       "lines": [],
         *       "duration_ms": 3
         *     }
         */
        ProxyDryRun: {
            /**
             * @description Where it stands.
             * @enum {string}
             */
            status: "completed" | "failed";
            /** @description The output of `console`. */
            lines: {
                /**
                 * Format: date-time
                 * @description When.
                 */
                at: string;
                /** @description `info`, `warn`, `error` or `debug`. */
                level: string;
                /** @description The text. */
                text: string;
                /**
                 * @description The transform that wrote it.
                 * @enum {string}
                 */
                side: "request" | "response";
            }[];
            /** @description Milliseconds of work. */
            duration_ms: number;
            /** @description The request, as it would leave. */
            request?: {
                /** @description The method. */
                method: string;
                /** @description The whole URL. */
                url: string;
                /** @description Values by name. A header that comes several times has a list. */
                headers: {
                    [key: string]: string | string[];
                };
                /** @description At most 1 MiB of it. */
                body?: string;
                /** @description The bytes of a body that is not shown to its end. */
                body_bytes?: number;
            };
            /** @description The answer, as the caller would get it. */
            answer?: {
                /** @description Where it stands. */
                status: number;
                /** @description Values by name. A header that comes several times has a list. */
                headers: {
                    [key: string]: string | string[];
                };
                /** @description At most 1 MiB of it. */
                body?: string;
                /** @description The bytes of a body that is not shown to its end. */
                body_bytes?: number;
            };
            /**
             * @description The side that failed.
             * @enum {string}
             */
            failed_at?: "request" | "answer";
            /** @description The error that a call would answer, with what the log of runs would keep. */
            error?: {
                /** @description The same for every error with this code. */
                title: string;
                /** @description The HTTP status. */
                status: number;
                /** @description The stable name of the error. Decide by it. */
                code: string;
                /** @description The message of the error. */
                message: string;
                /** @description More about this error. Its wording may change. */
                detail?: string;
                /** @description Where it failed, and why. */
                cause?: {
                    /** @description How far the call had come. */
                    phase: string;
                    /** @description Why, in words that may change. */
                    reason: string;
                    /** @description The address, where the URL has it in the place of a name. */
                    address?: string;
                    /** @description The port, where the URL names one. */
                    port?: number;
                    /** @description The status of the destination, where it had answered. */
                    destination_status?: number;
                };
                /** @description Messages by the path of a member. */
                errors?: {
                    [key: string]: string[];
                };
                /** @description The place in the code. */
                position?: {
                    /** @description The line, from 1. */
                    line: number;
                    /** @description The column, from 1. */
                    column: number;
                    /** @description The file of the place. Absent: it is the code that ran. */
                    source?: string;
                };
                /** @description The calls in the code, the innermost first. */
                stack?: {
                    /** @description The line, from 1. */
                    line: number;
                    /** @description The column, from 1. */
                    column: number;
                    /** @description The name of the function. */
                    function?: string;
                    /** @description The file of the place. Absent: it is the code that ran. */
                    source?: string;
                }[];
            };
        };
        /**
         * @example {
         *       "from": "2026-01-31T11:00:00.000Z",
         *       "to": "2026-01-31T12:00:00.000Z",
         *       "hours": 1,
         *       "bucket_minutes": 1,
         *       "totals": {
         *         "calls": 3,
         *         "failed": 1,
         *         "p50_ms": 12.4,
         *         "p95_ms": 48.1
         *       },
         *       "resources": [
         *         {
         *           "resource": "/proxy",
         *           "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
         *           "name": "The bank",
         *           "calls": 3,
         *           "failed": 1
         *         }
         *       ],
         *       "series": [
         *         {
         *           "at": "2026-01-31T11:00:00.000Z",
         *           "calls": 3,
         *           "failed": 1
         *         }
         *       ],
         *       "waiting": {
         *         "counted_max": 10000,
         *         "runs": {
         *           "pending": 0,
         *           "running": 1,
         *           "held": 0
         *         },
         *         "deliveries": {
         *           "pending": 2,
         *           "failing": 1,
         *           "held": 0,
         *           "oldest_due_at": "2026-01-31T12:00:00.000Z"
         *         }
         *       },
         *       "failures": [],
         *       "processes": [
         *         {
         *           "id": "7f1d2c3b-4a59-4e68-8d77-9c0b1a2f3e4d",
         *           "app": "gateway",
         *           "version": "0.1.0",
         *           "definition_lag": 0,
         *           "seen_at": "2026-01-31T12:00:00.000Z"
         *         }
         *       ],
         *       "runners": [
         *         {
         *           "id": "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f",
         *           "version": "0.1.0",
         *           "level": 1
         *         }
         *       ]
         *     }
         */
        Overview: {
            /**
             * Format: date-time
             * @description Nothing earlier.
             */
            from: string;
            /**
             * Format: date-time
             * @description Nothing later.
             */
            to: string;
            /** @description The length of the time, in hours. */
            hours: number;
            /** @description The length of a bucket of `series`. */
            bucket_minutes: number;
            /** @description All calls together. */
            totals: {
                /** @description The number of calls. */
                calls: number;
                /** @description Those with the outcome `failed` or `destination_error`. */
                failed: number;
                /** @description Half of the calls took at most this long, within the accuracy of the classes of `GET /calls/summary`. 60000 stands for everything longer. Absent without calls. */
                p50_ms?: number;
                /** @description 95 of 100 calls took at most this long. */
                p95_ms?: number;
            };
            /** @description Counts by path, proxy and reactor. */
            resources: {
                /** @description The template of the path. */
                resource: string;
                /** @description The number of calls. */
                calls: number;
                /** @description With the outcome `failed` or `destination_error`. */
                failed: number;
                /**
                 * Format: uuid
                 * @description The proxy.
                 */
                proxy_id?: string;
                /**
                 * Format: uuid
                 * @description The reactor.
                 */
                reactor_id?: string;
                /** @description Of the proxy or reactor, unless it was deleted. */
                name?: string;
                /** @description Half of the calls took at most this long, within the accuracy of the classes of `GET /calls/summary`. 60000 stands for everything longer. Absent without calls. */
                p50_ms?: number;
                /** @description 95 of 100 calls took at most this long. */
                p95_ms?: number;
            }[];
            /** @description Every bucket of the time, the oldest first. The last is under way. */
            series: {
                /**
                 * Format: date-time
                 * @description When.
                 */
                at: string;
                /** @description The number of calls. */
                calls: number;
                /** @description Those with the outcome `failed` or `destination_error`. */
                failed: number;
            }[];
            /** @description What is not done yet. */
            waiting: {
                /** @description A number that is as large stands for it or more. */
                counted_max: number;
                /** @description Async runs. */
                runs: {
                    /** @description Those that wait. */
                    pending: number;
                    /** @description Those at work. */
                    running: number;
                    /** @description Those that wait for the operator, after a restore. */
                    held: number;
                    /**
                     * Format: date-time
                     * @description Absent where nothing is overdue.
                     */
                    oldest_due_at?: string;
                };
                /** @description Webhooks. */
                deliveries: {
                    /** @description Those that wait. */
                    pending: number;
                    /** @description Those of the pending whose last attempt failed. */
                    failing: number;
                    /** @description Those that wait for the operator, after a restore. */
                    held: number;
                    /**
                     * Format: date-time
                     * @description Absent where nothing is overdue.
                     */
                    oldest_due_at?: string;
                };
            };
            /** @description The newest five calls that failed. */
            failures: components["schemas"]["Call"][];
            /** @description Whether something is left out. */
            truncated?: boolean;
            /** @description Absent while nobody knows, because Redis does not answer. */
            processes?: {
                /**
                 * Format: uuid
                 * @description The id.
                 */
                id: string;
                /** @description The app: `gateway`, `worker` or `management-api`. */
                app: string;
                /** @description Its release. */
                version: string;
                /** @description Changes of definitions that it knows of and has not applied. */
                definition_lag: number;
                /**
                 * Format: date-time
                 * @description When it was heard of last.
                 */
                seen_at: string;
            }[];
            /** @description Those that gateways and workers are connected to, with the level of their sandboxes. */
            runners?: {
                /**
                 * Format: uuid
                 * @description The id.
                 */
                id: string;
                /** @description Its release. */
                version: string;
                /** @description The level of its sandbox, from 1 to 3. */
                level: number;
            }[];
        };
        /**
         * @example {
         *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "method": "POST",
         *       "path": "/proxy",
         *       "outcome": "failed",
         *       "status": 502,
         *       "code": "destination_unreachable",
         *       "cause": {
         *         "phase": "tls",
         *         "reason": "the certificate is self-signed"
         *       },
         *       "application_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
         *       "trace_id": "order-7",
         *       "started_at": "2026-01-31T12:00:00.000Z",
         *       "ended_at": "2026-01-31T12:00:00.000Z",
         *       "phases": {
         *         "decided_ms": 0.21,
         *         "asked_ms": 1.4,
         *         "ended_ms": 18.02
         *       },
         *       "request_bytes": 214,
         *       "answer_bytes": 131,
         *       "token_ids": [
         *         "2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a"
         *       ],
         *       "count": 1
         *     }
         */
        Call: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /** @description The method. */
            method: string;
            /** @description The template of the path. `*`: no operation took the call. */
            path: string;
            /**
             * @description `destination_error`: the destination answered 400 or more, and the caller got that. `left`: the caller left before its answer was complete.
             * @enum {string}
             */
            outcome: "completed" | "destination_error" | "failed" | "left";
            /**
             * Format: date-time
             * @description When it ended.
             */
            ended_at: string;
            /** @description Tokens that the call used, at most 100. */
            token_ids: string[];
            /** @description The calls that this entry stands for. */
            count: number;
            /** @description Absent if the caller left before an answer. */
            status?: number;
            /** @description The status of the destination, where it had answered. */
            destination_status?: number;
            /** @description The code of the error. */
            code?: string;
            /** @description Where the call failed, and why. */
            cause?: {
                /** @description How far the call had come. */
                phase: string;
                /** @description Why, in words that may change. */
                reason: string;
                /** @description The address, where the URL has it in the place of a name. */
                address?: string;
                /** @description The port, where the URL names one. */
                port?: number;
                /** @description The status of the destination, where it had answered. */
                destination_status?: number;
            };
            /**
             * Format: uuid
             * @description The caller. Absent for anonymous calls, and where callers differ.
             */
            application_id?: string;
            /**
             * Format: uuid
             * @description The proxy.
             */
            proxy_id?: string;
            /**
             * Format: uuid
             * @description The reactor.
             */
            reactor_id?: string;
            /** @description The `SVC-TRACE-ID` of the call. */
            trace_id?: string;
            /**
             * Format: date-time
             * @description When it began.
             */
            started_at?: string;
            /** @description Milliseconds from the head of the request: until who may call what was decided, the destination was asked, the head of its answer was there, and the call ended. */
            phases?: {
                /** @description To the end. */
                ended_ms: number;
                /** @description To the decision. */
                decided_ms?: number;
                /** @description To the request to the destination. */
                asked_ms?: number;
                /** @description To the head of the answer. */
                answered_ms?: number;
            };
            /** @description Of the body. */
            request_bytes?: number;
            /** @description Of the body. */
            answer_bytes?: number;
            /**
             * Format: uuid
             * @description The run of the reactor.
             */
            run_id?: string;
            /** @description The runs of the code of the proxy. */
            transforms?: {
                /**
                 * Format: uuid
                 * @description The run of the request transform.
                 */
                request?: string;
                /**
                 * Format: uuid
                 * @description The run of the response transform.
                 */
                response?: string;
            };
            /** @description The entry stands for several calls, and shows the first. */
            sampled?: boolean;
        };
        CallPage: {
            pagination: components["schemas"]["CursorPagination"];
            /** @description The entries, in order. */
            data: components["schemas"]["Call"][];
        };
        /**
         * @example {
         *       "from": "2026-01-31T12:00:00.000Z",
         *       "to": "2026-01-31T12:00:00.000Z",
         *       "latency_bounds_ms": [
         *         1,
         *         2.5,
         *         5,
         *         10,
         *         25,
         *         50,
         *         100,
         *         250,
         *         500,
         *         1000,
         *         2500,
         *         5000,
         *         10000,
         *         30000,
         *         60000
         *       ],
         *       "data": [
         *         {
         *           "minute": "2026-01-31T12:00:00.000Z",
         *           "resource": "/proxy",
         *           "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
         *           "outcome": "completed",
         *           "calls": 3,
         *           "duration_ms": 57.4,
         *           "latencies": [
         *             0,
         *             0,
         *             0,
         *             1,
         *             2,
         *             0,
         *             0,
         *             0,
         *             0,
         *             0,
         *             0,
         *             0,
         *             0,
         *             0,
         *             0,
         *             0
         *           ]
         *         }
         *       ]
         *     }
         */
        CallSummary: {
            /**
             * Format: date-time
             * @description Nothing earlier.
             */
            from: string;
            /**
             * Format: date-time
             * @description Nothing later.
             */
            to: string;
            /** @description The upper bound of each class of `latencies`. The last class has none. */
            latency_bounds_ms: number[];
            /** @description The counts, the newest minute first. */
            data: {
                /**
                 * Format: date-time
                 * @description In which the calls ended.
                 */
                minute: string;
                /** @description The template of the path. */
                resource: string;
                /**
                 * @description How it ended.
                 * @enum {string}
                 */
                outcome: "completed" | "destination_error" | "failed" | "left";
                /** @description The number of calls. */
                calls: number;
                /** @description Of all the calls together. */
                duration_ms: number;
                /** @description The calls of each class of duration. */
                latencies: number[];
                /**
                 * Format: uuid
                 * @description The proxy.
                 */
                proxy_id?: string;
                /**
                 * Format: uuid
                 * @description The reactor.
                 */
                reactor_id?: string;
            }[];
            /** @description Whether something is left out. */
            truncated?: boolean;
        };
        /**
         * @example {
         *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "person": {
         *         "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *         "name": "operator",
         *         "role": "admin",
         *         "issuer": "link",
         *         "subject": "operator"
         *       },
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "seen_at": "2026-01-31T12:07:00.000Z"
         *     }
         */
        Session: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /** @description The person that signed in. */
            person: {
                /**
                 * Format: uuid
                 * @description The id.
                 */
                id: string;
                /** @description A name for people. It need not be unique. */
                name: string;
                /**
                 * @description What the person may do.
                 * @enum {string}
                 */
                role: "viewer" | "author" | "admin";
                /** @description `link`, or the OpenID provider. */
                issuer: string;
                /** @description The person there. */
                subject: string;
            };
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The last request, within a minute.
             */
            seen_at: string;
            /** @description That of a command line. Absent: a page. */
            machine?: string;
        };
        /**
         * @example {
         *       "pagination": {
         *         "page_size": 20
         *       },
         *       "data": [
         *         {
         *           "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *           "person": {
         *             "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *             "name": "operator",
         *             "role": "admin",
         *             "issuer": "link",
         *             "subject": "operator"
         *           },
         *           "created_at": "2026-01-31T12:00:00.000Z",
         *           "seen_at": "2026-01-31T12:07:00.000Z"
         *         }
         *       ]
         *     }
         */
        SessionPage: {
            pagination: components["schemas"]["CursorPagination"];
            /** @description The entries, in order. */
            data: components["schemas"]["Session"][];
        };
        /**
         * @description Where the part is in the log.
         * @example {
         *       "page_size": 20,
         *       "after": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182"
         *     }
         */
        CursorPagination: {
            /** @description Entries of a page, as asked for. */
            page_size: number;
            /**
             * Format: uuid
             * @description Gives the next part. Absent at the end.
             */
            after?: string;
        };
        /**
         * @example {
         *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "kind": "reactor",
         *       "resource_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "application_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "mode": "async",
         *       "status": "failed",
         *       "outcome": "reactor_error",
         *       "http_status": 500,
         *       "argument_names": [
         *         "card.number"
         *       ],
         *       "token_ids": [
         *         "2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a"
         *       ],
         *       "trace_id": "order-7",
         *       "attempt": 1,
         *       "queued_ms": 12,
         *       "duration_ms": 184,
         *       "position": {
         *         "line": 3,
         *         "column": 9
         *       },
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "started_at": "2026-01-31T12:00:00.000Z",
         *       "ended_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        Run: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * @description Of a reactor, or of a transform.
             * @enum {string}
             */
            kind: "reactor" | "transform";
            /**
             * Format: uuid
             * @description The reactor, or the proxy of the transform.
             */
            resource_id: string;
            /**
             * @description For a transform, the side that it changes.
             * @enum {string}
             */
            mode: "sync" | "async" | "request" | "response";
            /**
             * @description Where it stands.
             * @enum {string}
             */
            status: "pending" | "running" | "held" | "completed" | "failed";
            /** @description The `SVC-TRACE-ID` of the call. */
            trace_id: string;
            /** @description Counts from 1. */
            attempt: number;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The caller. Absent for anonymous calls.
             */
            application_id?: string;
            /** @description `completed`, `cancelled`, or the code of the error. */
            outcome?: string;
            /** @description The status that was answered. */
            http_status?: number;
            /** @description The names of the arguments. One that may be data is `?`. */
            argument_names?: string[];
            /** @description The tokens that were used. */
            token_ids?: string[];
            /** @description Milliseconds between its acceptance and its start. */
            queued_ms?: number;
            /** @description Milliseconds of work. */
            duration_ms?: number;
            /** @description The place in the code where its error was made. */
            position?: {
                /** @description The line, from 1. */
                line: number;
                /** @description The column, from 1. */
                column: number;
                /** @description The file of the place. Absent: it is the code that ran. */
                source?: string;
            };
            /**
             * Format: date-time
             * @description When it began.
             */
            started_at?: string;
            /**
             * Format: date-time
             * @description When it ended.
             */
            ended_at?: string;
            /**
             * Format: date-time
             * @description Until then the run can be repeated.
             */
            arguments_kept_until?: string;
            /**
             * Format: uuid
             * @description The failed run that it repeats.
             */
            rerun_of?: string;
        };
        /**
         * @example {
         *       "async_request_id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "asyncReactorRequestId": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "again": {
         *         "reactor_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *         "token_ids": [],
         *         "says": [
         *           "The code of now runs on the arguments of then."
         *         ]
         *       }
         *     }
         */
        Rerun: {
            /**
             * Format: uuid
             * @description The id of the run, and of its result.
             */
            async_request_id: string;
            /**
             * Format: uuid
             * @description The same, for existing clients.
             */
            asyncReactorRequestId: string;
            /** @description What happens again. */
            again: {
                /**
                 * Format: uuid
                 * @description The reactor.
                 */
                reactor_id: string;
                /** @description At most 100 of them. */
                token_ids: string[];
                /** @description What happens again, in words. */
                says: string[];
                /** @description The host that gets the result. */
                callback_host?: string;
            };
        };
        /**
         * @example {
         *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "kind": "reactor",
         *       "resource_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "application_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
         *       "mode": "async",
         *       "status": "failed",
         *       "outcome": "reactor_error",
         *       "http_status": 500,
         *       "argument_names": [
         *         "card.number"
         *       ],
         *       "token_ids": [
         *         "2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a"
         *       ],
         *       "trace_id": "order-7",
         *       "attempt": 1,
         *       "queued_ms": 12,
         *       "duration_ms": 184,
         *       "position": {
         *         "line": 3,
         *         "column": 9
         *       },
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "started_at": "2026-01-31T12:00:00.000Z",
         *       "ended_at": "2026-01-31T12:00:00.000Z",
         *       "message": "the bank declined: 51",
         *       "stack": [
         *         {
         *           "function": "charge",
         *           "line": 3,
         *           "column": 9
         *         },
         *         {
         *           "function": "module.exports",
         *           "line": 12,
         *           "column": 5
         *         }
         *       ],
         *       "lines": [
         *         {
         *           "at": "2026-01-31T12:00:00.000Z",
         *           "level": "info",
         *           "text": "the bank declined"
         *         }
         *       ],
         *       "code": "module.exports = async ({ args, configuration }) => {\n  …\n};",
         *       "code_changed": false,
         *       "webhook": {
         *         "status": "delivered",
         *         "attempts": [
         *           {
         *             "at": "2026-01-31T12:00:00.000Z",
         *             "ms": 48,
         *             "status": 200,
         *             "outcome": "delivered"
         *           }
         *         ]
         *       }
         *     }
         */
        RunDetails: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * @description Of a reactor, or of a transform.
             * @enum {string}
             */
            kind: "reactor" | "transform";
            /**
             * Format: uuid
             * @description The reactor, or the proxy of the transform.
             */
            resource_id: string;
            /**
             * @description For a transform, the side that it changes.
             * @enum {string}
             */
            mode: "sync" | "async" | "request" | "response";
            /**
             * @description Where it stands.
             * @enum {string}
             */
            status: "pending" | "running" | "held" | "completed" | "failed";
            /** @description The `SVC-TRACE-ID` of the call. */
            trace_id: string;
            /** @description Counts from 1. */
            attempt: number;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description The output of `console`, without values that the run knew. */
            lines: {
                /**
                 * Format: date-time
                 * @description When.
                 */
                at: string;
                /** @description `info`, `warn`, `error` or `debug`. */
                level: string;
                /** @description The text. */
                text: string;
            }[];
            /**
             * Format: uuid
             * @description The caller. Absent for anonymous calls.
             */
            application_id?: string;
            /** @description `completed`, `cancelled`, or the code of the error. */
            outcome?: string;
            /** @description The status that was answered. */
            http_status?: number;
            /** @description The names of the arguments. One that may be data is `?`. */
            argument_names?: string[];
            /** @description The tokens that were used. */
            token_ids?: string[];
            /** @description Milliseconds between its acceptance and its start. */
            queued_ms?: number;
            /** @description Milliseconds of work. */
            duration_ms?: number;
            /** @description The place in the code where its error was made. */
            position?: {
                /** @description The line, from 1. */
                line: number;
                /** @description The column, from 1. */
                column: number;
                /** @description The file of the place. Absent: it is the code that ran. */
                source?: string;
            };
            /**
             * Format: date-time
             * @description When it began.
             */
            started_at?: string;
            /**
             * Format: date-time
             * @description When it ended.
             */
            ended_at?: string;
            /**
             * Format: date-time
             * @description Until then the run can be repeated.
             */
            arguments_kept_until?: string;
            /**
             * Format: uuid
             * @description The failed run that it repeats.
             */
            rerun_of?: string;
            /** @description Why the run failed, without values that the run knew. */
            message?: string;
            /** @description The calls in the code that led to its error, the innermost first. */
            stack?: {
                /** @description The line, from 1. */
                line: number;
                /** @description The column, from 1. */
                column: number;
                /** @description The name of the function. */
                function?: string;
                /** @description The file of the place. Absent: it is the code that ran. */
                source?: string;
            }[];
            /** @description The code that ran, for callers who may read it (`reactor:read`, `proxy:read`). Absent where it is not kept any more. */
            code?: string;
            /** @description The same of a bundle, whose text GET /code/{sha256} has. */
            code_sha256?: string;
            /** @description A run of now would execute other code, or none. */
            code_changed?: boolean;
            /** @description The webhook that reports it. */
            webhook?: {
                /**
                 * @description Where it stands.
                 * @enum {string}
                 */
                status: "pending" | "held" | "delivered" | "failed";
                /** @description The attempts, the oldest first. */
                attempts: components["schemas"]["WebhookAttempt"][];
            };
        };
        RunPage: {
            pagination: components["schemas"]["CursorPagination"];
            /** @description The entries, in order. */
            data: components["schemas"]["Run"][];
        };
        /**
         * @example {
         *       "status": "completed",
         *       "result": {
         *         "raw": {
         *           "approved": true
         *         }
         *       }
         *     }
         */
        RunResult: {
            /**
             * @description Where it stands.
             * @enum {string}
             */
            status: "pending" | "completed" | "failed";
            /** @description The answer of the run. */
            result?: unknown;
            error?: components["schemas"]["Problem"];
        };
        /**
         * @example {
         *       "at": "2026-01-31T12:00:00.000Z",
         *       "ms": 48,
         *       "status": 200,
         *       "outcome": "delivered"
         *     }
         */
        WebhookAttempt: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description Milliseconds until its end. */
            ms: number;
            /**
             * @description How it ended.
             * @enum {string}
             */
            outcome: "delivered" | "rejected" | "timed_out" | "unreachable";
            /** @description Absent if there was no answer. */
            status?: number;
            /** @description Where and why there was no answer. Absent for what may not be reached. */
            cause?: {
                /** @description How far the call had come. */
                phase: string;
                /** @description Why, in words that may change. */
                reason: string;
            };
        };
        /**
         * @example {
         *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "run_id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "reactor_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "webhook_id": "msg_019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
         *       "host": "shop.example",
         *       "status": "delivered",
         *       "outcome": "delivered",
         *       "attempts": [
         *         {
         *           "at": "2026-01-31T12:00:00.000Z",
         *           "ms": 48,
         *           "status": 200,
         *           "outcome": "delivered"
         *         }
         *       ],
         *       "replayable": true,
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "ended_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        WebhookDelivery: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
            /**
             * Format: uuid
             * @description The run.
             */
            run_id: string;
            /** @description The `webhook-id` of every attempt. */
            webhook_id: string;
            /** @description The host, without a port. */
            host: string;
            /**
             * @description Where it stands.
             * @enum {string}
             */
            status: "pending" | "held" | "delivered" | "failed";
            /** @description The attempts, the oldest first. */
            attempts: components["schemas"]["WebhookAttempt"][];
            /** @description It has ended, and its body was not erased yet. */
            replayable: boolean;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The reactor.
             */
            reactor_id?: string;
            /** @description How it ended. */
            outcome?: string;
            /**
             * Format: date-time
             * @description When it is tried next.
             */
            next_attempt_at?: string;
            /**
             * Format: date-time
             * @description When it ended.
             */
            ended_at?: string;
        };
        WebhookDeliveryPage: {
            pagination: components["schemas"]["CursorPagination"];
            /** @description The entries, in order. */
            data: components["schemas"]["WebhookDelivery"][];
        };
        /**
         * @example {
         *       "matched": 41,
         *       "queued": 40,
         *       "gone": 1
         *     }
         */
        Replayed: {
            /** @description Webhooks that were selected. */
            matched: number;
            /** @description Those of them that are sent again. */
            queued: number;
            /** @description Those whose data could not be opened now. */
            gone: number;
        };
        /**
         * @example {
         *       "count": 40
         *     }
         */
        ReplayCount: {
            /** @description The number that would be sent again. */
            count: number;
        };
        /**
         * @example {
         *       "type": "token:use",
         *       "description": "Use tokens",
         *       "application_types": [
         *         "private"
         *       ]
         *     }
         */
        Permission: {
            /**
             * @description The name of the permission.
             * @enum {string}
             */
            type: "reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use";
            /** @description A text for people. */
            description: string;
            /** @description The types of applications that may hold it. */
            application_types: ("private" | "public" | "management")[];
        };
        /**
         * @example {
         *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
         *     }
         */
        WebhookSecret: {
            /** @description The secret, as verifiers of Standard Webhooks take it. */
            secret: string;
        };
        /**
         * @example {
         *       "certificates": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n"
         *     }
         */
        ForwardCa: {
            /** @description PEM: the newest, and behind it the one that still signs. */
            certificates: string;
            /**
             * Format: date-time
             * @description The newest signs from then on. Absent where it signs already.
             */
            signs_from?: string;
        };
        /**
         * @description Where the page is in the list.
         * @example {
         *       "total_items": 41,
         *       "page_number": 1,
         *       "page_size": 20,
         *       "total_pages": 3,
         *       "after": "MTc5MzU1MzQ2NzAwMC4yMC42ZjBkNmQzYS01YzBiLTRiM2UtOWQwYy0wYTRjMWUxZjdhMTA"
         *     }
         */
        Pagination: {
            /** @description The number of all entries. */
            total_items: number;
            /** @description The number of this page. */
            page_number: number;
            /** @description Entries of a page, as asked for. */
            page_size: number;
            /** @description The number of pages. */
            total_pages: number;
            /** @description There are more than 10,000 entries, and their number is not exact. */
            total_items_is_estimate?: boolean;
            /** @description Gives the next page. Absent at the end. */
            after?: string;
        };
        /**
         * @description The result of the code: `tokens` made of its `tokenize`, and its `raw`.
         * @example {
         *       "raw": {
         *         "approved": true
         *       }
         *     }
         */
        ReactorResponse: {
            /** @description What the code had tokenized, in its shape. */
            tokens?: unknown;
            /** @description What the code returned as `raw`. */
            raw?: unknown;
        };
        /**
         * @example {
         *       "async_request_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
         *       "asyncReactorRequestId": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10"
         *     }
         */
        AsyncRequest: {
            /**
             * Format: uuid
             * @description The id of the run, and of its result.
             */
            async_request_id: string;
            /**
             * Format: uuid
             * @description The same, for existing clients.
             */
            asyncReactorRequestId: string;
        };
        /**
         * @description The body of every error. `code` is stable; `errors` lists messages by member; `position` is the place in code of yours where an error was made; `ended` says how the work ended whose answer is not shown any more.
         * @example {
         *       "title": "One or more validation errors occurred.",
         *       "status": 400,
         *       "code": "validation_failed",
         *       "errors": {
         *         "name": [
         *           "must be at most 200 characters"
         *         ]
         *       }
         *     }
         */
        Problem: {
            /** @description The same for every error with this code. */
            title: string;
            /** @description The HTTP status. */
            status: number;
            /**
             * @description The stable name of the error. Decide by it.
             * @enum {string}
             */
            code: "validation_failed" | "invalid_json" | "invalid_request" | "loop_detected" | "proxy_key_missing" | "invalid_expression" | "unknown_token" | "invalid_api_key" | "permission_denied" | "destination_not_allowed" | "not_found" | "method_not_allowed" | "conflict" | "deployment_conflict" | "request_in_progress" | "changed_meanwhile" | "application_gone" | "data_gone" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "invalid_code" | "idempotency_key_reused" | "rate_limited" | "share_exhausted" | "internal_error" | "reactor_error" | "invalid_reactor_result" | "reactor_crashed" | "run_interrupted" | "destination_unreachable" | "destination_answer_invalid" | "destination_busy" | "no_capacity" | "newer_definition" | "service_unavailable" | "reactor_timeout" | "destination_timeout";
            /** @description More about this error. Its wording may change. */
            detail?: string;
            /** @description Where a call of a proxy or reactor failed, and why. Only for calls with a key of the tenant, and never for a destination that may not be reached. */
            cause?: {
                /**
                 * @description How far the call had come.
                 * @enum {string}
                 */
                phase: "name" | "connect" | "tls" | "send" | "first_byte" | "body" | "transform" | "lookup";
                /** @description Why, in words that may change. */
                reason: string;
                /** @description The address, where the URL has it in the place of a name. */
                address?: string;
                /** @description The port, where the URL names one. */
                port?: number;
                /** @description The status of the destination, where it had answered. */
                destination_status?: number;
            };
            /** @description Messages by the path of a member. */
            errors?: {
                [key: string]: string[];
            };
            /** @description The place in the code. */
            position?: {
                /** @description The line, from 1. */
                line: number;
                /** @description The column, from 1. */
                column: number;
            };
            /** @description How the work ended whose answer is not shown any more. */
            ended?: {
                /** @description How it ended. */
                outcome: string;
                /** @description The status that was answered. */
                http_status: number;
                /**
                 * Format: date-time
                 * @description When.
                 */
                at: string;
                /**
                 * Format: uuid
                 * @description The run.
                 */
                run_id?: string;
            };
            /** @description Of a deployment: the first 20 resources that were changed meanwhile. */
            conflicts?: components["schemas"]["DeploymentConflict"][];
        };
        /** @description The proxy itself failed. Answers of the destination carry `SVC-PROXY-DESTINATION-STATUS`. */
        ProxyError: {
            proxy_error: components["schemas"]["Problem"];
        };
        Invocation: {
            /** @description An object, or one expression that yields an object. */
            args?: {
                [key: string]: unknown;
            } | string;
            /**
             * Format: uri
             * @description http or https. It makes the run asynchronous.
             */
            callback_url?: string;
            /**
             * @description Only allowed with `callback_url`.
             * @default 10000
             */
            timeout_ms?: number;
        };
        RuleInput: {
            /** @description A text for people. */
            description?: string;
            /** @description Rules are tried from 1 upwards. The first that covers a token decides. */
            priority: number;
            /** @description Tokens in this container and below it. */
            container: string;
            /**
             * @description How much of the data is shown.
             * @enum {string}
             */
            transform: "reveal" | "mask" | "redact";
            /** @description What it may do. */
            permissions: ("reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use")[];
            /** @description Where the values may go: hosts, with a port or the beginning of a path. */
            destinations?: string[];
        };
        CreateApplication: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description What it may do. */
            permissions?: ("reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use")[];
            /** @description Exceptions by container, the lowest priority first. */
            rules?: components["schemas"]["RuleInput"][];
            /**
             * Format: date-time
             * @description From then on it counts as deleted.
             */
            expires_at?: string;
            /** @description The origins of the pages in browsers that may call. */
            allowed_origins?: string[];
            /**
             * @description `private` and `public` work with tokens, `management` with everything else.
             * @enum {string}
             */
            type: "private" | "public" | "management";
        };
        UpdateApplication: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description What it may do. */
            permissions?: ("reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use")[];
            /** @description Exceptions by container, the lowest priority first. */
            rules?: components["schemas"]["RuleInput"][];
            /**
             * Format: date-time
             * @description From then on it counts as deleted.
             */
            expires_at?: string;
            /** @description The origins of the pages in browsers that may call. */
            allowed_origins?: string[];
            /**
             * @description The kind.
             * @enum {string}
             */
            type?: "private" | "public" | "management";
        };
        /** @description RFC 7386: members that are left out stay as they are, null removes. */
        UpdateApplicationPatch: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string | null;
            /** @description A name for people. It need not be unique. */
            name?: string;
            /** @description What it may do. */
            permissions?: ("reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use")[] | null;
            /** @description Exceptions by container, the lowest priority first. */
            rules?: components["schemas"]["RuleInput"][] | null;
            /**
             * Format: date-time
             * @description From then on it counts as deleted.
             */
            expires_at?: string | null;
            /** @description The origins of the pages in browsers that may call. */
            allowed_origins?: string[] | null;
            /**
             * @description The kind.
             * @enum {string|null}
             */
            type?: "private" | "public" | "management" | null;
        };
        AskDecision: {
            /** @description The token that is asked about. */
            token_id: string;
            /**
             * @description The permission that is asked about.
             * @enum {string}
             */
            permission: "token:read" | "token:search" | "token:use" | "token:update" | "token:delete";
        };
        ConfigurationInput: {
            /** @description The name, as code reads it: `req.configuration.NAME`. */
            name: string;
            /** @description A text for people. */
            description?: string;
            /**
             * @description What the value has to be.
             * @enum {string}
             */
            type: "string" | "boolean" | "number";
        };
        ParameterInput: {
            /** @description The path of the argument: `card.number`. */
            name: string;
            /** @description A text for people. */
            description?: string;
            /**
             * @description What the argument is cast to.
             * @enum {string}
             */
            type: "string" | "boolean" | "number" | "object";
            /** @description Whether a call may leave it out. */
            optional?: boolean;
            /** @description Whether its value may be shown in the output of runs. */
            loggable?: boolean;
        };
        FormulaInput: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
            /**
             * @description Always `private`.
             * @enum {string}
             */
            type?: "private";
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description A text for people. */
            description?: string;
            /** @description The address of a picture, or a small picture as a data URL. */
            icon?: string;
            /** @description CommonJS that exports one function. */
            code?: string;
            /** @description The SHA-256 of code that was uploaded, in its place. */
            code_sha256?: string;
            /** @description The values that a reactor of it has to give. */
            configuration?: components["schemas"]["ConfigurationInput"][];
            /** @description The arguments that it takes. Without any, it takes all as they come. */
            request_parameters?: components["schemas"]["ParameterInput"][];
            /**
             * @description The Node.js that runs the code.
             * @enum {string}
             */
            runtime?: "node16" | "node20" | "node22" | "node24";
        };
        /** @description RFC 7386: members that are left out stay as they are, null removes. */
        FormulaInputPatch: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string | null;
            /**
             * @description The kind.
             * @enum {string|null}
             */
            type?: "private" | null;
            /** @description A name for people. It need not be unique. */
            name?: string;
            /** @description A text for people. */
            description?: string | null;
            /** @description The address of a picture, or a small picture as a data URL. */
            icon?: string | null;
            /** @description CommonJS that exports one function. */
            code?: string | null;
            /** @description The SHA-256 of code that was uploaded, in its place. */
            code_sha256?: string | null;
            /** @description The values that a reactor of it has to give. */
            configuration?: components["schemas"]["ConfigurationInput"][] | null;
            /** @description The arguments that it takes. Without any, it takes all as they come. */
            request_parameters?: components["schemas"]["ParameterInput"][] | null;
            /**
             * @description The Node.js that runs the code.
             * @enum {string|null}
             */
            runtime?: "node16" | "node20" | "node22" | "node24" | null;
        };
        /** @description The application that code acts as, through `svc` and in steps. */
        ApplicationReference: {
            /**
             * Format: uuid
             * @description The id.
             */
            id?: string;
        };
        /** @description The formula. */
        FormulaReference: {
            /**
             * Format: uuid
             * @description The id.
             */
            id: string;
        };
        CreateReactor: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
            application?: components["schemas"]["ApplicationReference"];
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description Values by name, which code reads. Stored sealed. */
            configuration: {
                [key: string]: string | number | boolean;
            };
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string}
             */
            isolation?: "warm" | "run";
            formula: components["schemas"]["FormulaReference"];
        };
        UpdateReactor: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
            application?: components["schemas"]["ApplicationReference"];
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description Values by name, which code reads. Stored sealed. */
            configuration: {
                [key: string]: string | number | boolean;
            };
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string}
             */
            isolation?: "warm" | "run";
            formula?: components["schemas"]["FormulaReference"];
        };
        /** @description RFC 7386: members that are left out stay as they are, null removes. */
        CreateReactorPatch: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string | null;
            /** @description The application that code acts as, through `svc` and in steps. */
            application?: {
                /**
                 * Format: uuid
                 * @description The id.
                 */
                id?: string | null;
            } | null;
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string | null;
            /** @description A name for people. It need not be unique. */
            name?: string;
            /** @description Values by name, which code reads. Stored sealed. */
            configuration?: {
                [key: string]: (string | null) | (number | null) | (boolean | null);
            };
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string|null}
             */
            isolation?: "warm" | "run" | null;
            /** @description The formula whose code runs. */
            formula?: {
                /**
                 * Format: uuid
                 * @description The id.
                 */
                id?: string;
            };
        };
        /** @description Code that changes the message. Without code there is none. */
        TransformInput: {
            /** @description CommonJS that exports one function. */
            code?: string;
            /** @description The SHA-256 of code that was uploaded, in its place. */
            code_sha256?: string;
            /**
             * @description The Node.js that runs the code.
             * @enum {string}
             */
            runtime?: "node16" | "node20" | "node22" | "node24";
        };
        /** @description The certificate that the proxy shows to the destination. */
        ClientCertificateInput: {
            /** @description The certificate as PEM. Intermediate ones may follow it. */
            certificate: string;
            /** @description Its key as PEM. It is never shown again. */
            private_key?: string;
        };
        /** @description The requests of forward mode that it handles. The most specific proxy handles a request. */
        MatchInput: {
            /** @description `host`, `*.host`, either with `:port`. https, unless `http://` stands before it. */
            hosts: string[];
            /** @description Without them: all. */
            methods?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS")[];
            /** @description Beginnings of paths, by whole segments. Without them: all. */
            paths?: string[];
        };
        ProxyInput: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
            application?: components["schemas"]["ApplicationReference"];
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description Where calls go. They append their path and query. */
            destination_url: string;
            request_transform?: components["schemas"]["TransformInput"];
            response_transform?: components["schemas"]["TransformInput"];
            /** @description Changes of the request without code. They run in order, before the request transform. */
            request_transforms?: components["schemas"]["RequestStep"][];
            /** @description Changes of the answer without code. They run in order, after the response transform. */
            response_transforms?: components["schemas"]["ResponseStep"][];
            /** @description Values by name, which code reads. Stored sealed. */
            configuration?: {
                [key: string]: string | number | boolean;
            };
            /** @description Whether calls need a key of an application with `token:use`. */
            require_auth?: boolean;
            /** @description Whether expressions in requests are replaced. */
            detokenize?: boolean;
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string}
             */
            isolation?: "warm" | "run";
            /** @description How long the destination may take to answer, in milliseconds. */
            timeout_ms?: number;
            client_certificate?: components["schemas"]["ClientCertificateInput"];
            /** @description The authorities as PEM that vouch for the destination. */
            certificate_authority?: string;
            /** @description Whether what a call puts in is taken out of its answer. */
            scrub?: boolean;
            match?: components["schemas"]["MatchInput"];
            /**
             * @description `request`: to the origin that the request names, in place of `destination_url`.
             * @enum {string}
             */
            forward_to?: "request";
            /** @description The origins of the pages in browsers that may call. */
            allowed_origins?: string[];
        };
        /** @description RFC 7386: members that are left out stay as they are, null removes. */
        ProxyInputPatch: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string | null;
            /** @description The application that code acts as, through `svc` and in steps. */
            application?: {
                /**
                 * Format: uuid
                 * @description The id.
                 */
                id?: string | null;
            } | null;
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string | null;
            /** @description A name for people. It need not be unique. */
            name?: string;
            /** @description Where calls go. They append their path and query. */
            destination_url?: string;
            /** @description Code that changes the request. */
            request_transform?: {
                /** @description CommonJS that exports one function. */
                code?: string | null;
                /** @description The SHA-256 of code that was uploaded, in its place. */
                code_sha256?: string | null;
                /**
                 * @description The Node.js that runs the code.
                 * @enum {string|null}
                 */
                runtime?: "node16" | "node20" | "node22" | "node24" | null;
            } | null;
            /** @description Code that changes the answer. */
            response_transform?: {
                /** @description CommonJS that exports one function. */
                code?: string | null;
                /** @description The SHA-256 of code that was uploaded, in its place. */
                code_sha256?: string | null;
                /**
                 * @description The Node.js that runs the code.
                 * @enum {string|null}
                 */
                runtime?: "node16" | "node20" | "node22" | "node24" | null;
            } | null;
            /** @description Changes of the request without code. They run in order, before the request transform. */
            request_transforms?: components["schemas"]["RequestStep"][] | null;
            /** @description Changes of the answer without code. They run in order, after the response transform. */
            response_transforms?: components["schemas"]["ResponseStep"][] | null;
            /** @description Values by name, which code reads. Stored sealed. */
            configuration?: {
                [key: string]: (string | null) | (number | null) | (boolean | null);
            } | null;
            /** @description Whether calls need a key of an application with `token:use`. */
            require_auth?: boolean | null;
            /** @description Whether expressions in requests are replaced. */
            detokenize?: boolean | null;
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string|null}
             */
            isolation?: "warm" | "run" | null;
            /** @description How long the destination may take to answer, in milliseconds. */
            timeout_ms?: number | null;
            /** @description The certificate that the proxy shows to the destination. */
            client_certificate?: {
                /** @description The certificate as PEM. Intermediate ones may follow it. */
                certificate?: string;
                /** @description Its key as PEM. It is never shown again. */
                private_key?: string | null;
            } | null;
            /** @description The authorities as PEM that vouch for the destination. */
            certificate_authority?: string | null;
            /** @description Whether what a call puts in is taken out of its answer. */
            scrub?: boolean | null;
            /** @description The requests of forward mode that it handles. The most specific proxy handles a request. */
            match?: {
                /** @description `host`, `*.host`, either with `:port`. https, unless `http://` stands before it. */
                hosts?: string[];
                /** @description Without them: all. */
                methods?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS")[] | null;
                /** @description Beginnings of paths, by whole segments. Without them: all. */
                paths?: string[] | null;
            } | null;
            /**
             * @description `request`: to the origin that the request names, in place of `destination_url`.
             * @enum {string|null}
             */
            forward_to?: "request" | null;
            /** @description The origins of the pages in browsers that may call. */
            allowed_origins?: string[] | null;
        };
        DeployedApplication: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description What it may do. */
            permissions?: ("reactor:create" | "reactor:read" | "reactor:update" | "reactor:delete" | "proxy:create" | "proxy:read" | "proxy:update" | "proxy:delete" | "deployment:create" | "deployment:read" | "application:create" | "application:read" | "application:update" | "application:delete" | "tenant:read" | "tenant:update" | "tenant:delete" | "log:read" | "token:create" | "token:update" | "token:read" | "token:search" | "token:delete" | "token:use")[];
            /** @description Exceptions by container, the lowest priority first. */
            rules?: components["schemas"]["RuleInput"][];
            /**
             * Format: date-time
             * @description From then on it counts as deleted.
             */
            expires_at?: string;
            /** @description The origins of the pages in browsers that may call. */
            allowed_origins?: string[];
            /**
             * @description An application.
             * @enum {string}
             */
            kind: "application";
            /**
             * @description The kind.
             * @enum {string}
             */
            type: "private" | "public";
            /**
             * Format: uuid
             * @description Names a resource that has no slug yet.
             */
            id?: string;
            /** @description The version that may be overwritten, as a conflict or a dry run told it. */
            etag?: string;
        };
        /** @description The formula, which is the own one of the reactor. */
        DeployedFormula: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
            /**
             * @description The kind.
             * @enum {string}
             */
            type?: "private";
            /** @description A text for people. */
            description?: string;
            /** @description The address of a picture, or a small picture as a data URL. */
            icon?: string;
            /** @description CommonJS that exports one function. */
            code?: string;
            /** @description The SHA-256 of code that was uploaded, in its place. */
            code_sha256?: string;
            /** @description Values by name, which code reads. Stored sealed. */
            configuration?: components["schemas"]["ConfigurationInput"][];
            /** @description The arguments that it takes. Without any, it takes all as they come. */
            request_parameters?: components["schemas"]["ParameterInput"][];
            /**
             * @description The Node.js that runs the code.
             * @enum {string}
             */
            runtime?: "node16" | "node20" | "node22" | "node24";
            /** @description A name for people. It need not be unique. */
            name?: string;
        };
        /** @description Another resource, by its slug. */
        DeployedReference: {
            /**
             * Format: uuid
             * @description The id.
             */
            id?: string;
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
        };
        DeployedReactor: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string;
            /**
             * @description A reactor with its formula.
             * @enum {string}
             */
            kind: "reactor";
            /**
             * Format: uuid
             * @description Names a resource that has no slug yet.
             */
            id?: string;
            /** @description The version that may be overwritten, as a conflict or a dry run told it. */
            etag?: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            formula: components["schemas"]["DeployedFormula"];
            /** @description Values by name, which code reads. Stored sealed. */
            configuration?: {
                [key: string]: (string | null) | (number | null) | (boolean | null);
            };
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string}
             */
            isolation?: "warm" | "run";
            application?: components["schemas"]["DeployedReference"];
        };
        DeployedProxy: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string;
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description Where calls go. They append their path and query. */
            destination_url: string;
            request_transform?: components["schemas"]["TransformInput"];
            response_transform?: components["schemas"]["TransformInput"];
            /** @description Changes of the request without code. They run in order, before the request transform. */
            request_transforms?: components["schemas"]["KeepableRequestStep"][];
            /** @description Changes of the answer without code. They run in order, after the response transform. */
            response_transforms?: components["schemas"]["KeepableResponseStep"][];
            /** @description Whether calls need a key of an application with `token:use`. */
            require_auth?: boolean;
            /** @description Whether expressions in requests are replaced. */
            detokenize?: boolean;
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string}
             */
            isolation?: "warm" | "run";
            /** @description How long the destination may take to answer, in milliseconds. */
            timeout_ms?: number;
            client_certificate?: components["schemas"]["ClientCertificateInput"];
            /** @description The authorities as PEM that vouch for the destination. */
            certificate_authority?: string;
            /** @description Whether what a call puts in is taken out of its answer. */
            scrub?: boolean;
            match?: components["schemas"]["MatchInput"];
            /**
             * @description `request`: to the origin that the request names, in place of `destination_url`.
             * @enum {string}
             */
            forward_to?: "request";
            /** @description The origins of the pages in browsers that may call. */
            allowed_origins?: string[];
            /**
             * @description A proxy.
             * @enum {string}
             */
            kind: "proxy";
            /**
             * Format: uuid
             * @description Names a resource that has no slug yet.
             */
            id?: string;
            /** @description The version that may be overwritten, as a conflict or a dry run told it. */
            etag?: string;
            /** @description Values by name, which code reads. Stored sealed. */
            configuration?: {
                [key: string]: (string | null) | (number | null) | (boolean | null);
            };
            application?: components["schemas"]["DeployedReference"];
        };
        CreateDeployment: {
            /** @description Why, for the list of deployments and the audit log. */
            message?: string;
            /** @description Whether the answer alone is wanted: nothing is changed. */
            dry_run?: boolean;
            /** @description Whether what was changed by hand meanwhile is overwritten. */
            force?: boolean;
            /** @description Whose files these are, where several folders deploy to one tenant. Each prunes what is its own alone. */
            project?: string;
            /** @description The set, in any order. */
            items: (components["schemas"]["DeployedApplication"] | components["schemas"]["DeployedReactor"] | components["schemas"]["DeployedProxy"])[];
            /** @description Whether what files of the project had put in force, and is not among the items, is deleted. */
            prune?: boolean;
        };
        RollbackInput: {
            /** @description Why, for the list of deployments and the audit log. */
            message?: string;
            /** @description Whether the answer alone is wanted: nothing is changed. */
            dry_run?: boolean;
            /** @description Whether what was changed by hand meanwhile is overwritten. */
            force?: boolean;
            /**
             * Format: uuid
             * @description The newest deployment of the project, as the caller knows it. Where it is another one, nothing is changed.
             */
            newest_id?: string;
        };
        UploadCode: {
            /** @description CommonJS that exports one function. */
            code: string;
        };
        UploadMap: {
            /** @description The JSON of a source map, version 3. */
            map: string;
        };
        StartCapture: {
            /** @description How long calls are kept. */
            minutes?: number;
            /** @description Whether texts are kept, and not shapes alone. */
            whole?: boolean;
        };
        /** @description A formula by its id, or unsaved; with both, the stored one with these changes. */
        RehearsedFormula: {
            /**
             * Format: uuid
             * @description The id.
             */
            id?: string;
            /** @description CommonJS that exports one function. */
            code?: string;
            /** @description The SHA-256 of code that was uploaded, in its place. */
            code_sha256?: string;
            /**
             * @description The Node.js that runs the code.
             * @enum {string}
             */
            runtime?: "node16" | "node20" | "node22" | "node24";
            /** @description The values that a reactor of it has to give. */
            configuration?: components["schemas"]["ConfigurationInput"][];
            /** @description The arguments that it takes. Without any, it takes all as they come. */
            request_parameters?: components["schemas"]["ParameterInput"][];
        };
        /** @description The unsaved reactor. */
        RehearsedReactor: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
            application?: components["schemas"]["ApplicationReference"];
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string;
            formula?: components["schemas"]["RehearsedFormula"];
            /** @description Values by name, which code reads. Stored sealed. */
            configuration?: {
                [key: string]: string | number | boolean;
            };
        };
        RehearseReactor: {
            reactor?: components["schemas"]["RehearsedReactor"];
            /**
             * Format: uuid
             * @description The reactor.
             */
            reactor_id?: string;
            /** @description The arguments. */
            args?: unknown;
            /** @description Whether the code may connect. */
            network?: boolean;
            /** @description Whether the code has `svc`. */
            svc?: boolean;
            /**
             * Format: uuid
             * @description The session of a debugger that is to see the code, as `glovebox dev --inspect` makes it.
             */
            inspect?: string;
        };
        /** @description Code that changes the message. Without code there is none. */
        RehearsedTransform: {
            /** @description The SHA-256 of code that was uploaded, in its place. */
            code_sha256?: string;
            /**
             * @description The Node.js that runs the code.
             * @enum {string}
             */
            runtime?: "node16" | "node20" | "node22" | "node24";
            /** @description CommonJS that exports one function. */
            code?: string;
        };
        /** @description The unsaved proxy. */
        RehearsedProxy: {
            /** @description A name of your own for files and scripts, unique in the tenant. */
            slug?: string;
            application?: components["schemas"]["ApplicationReference"];
            /**
             * Format: uuid
             * @description The id of the application that code acts as, through `svc` and in steps.
             */
            application_id?: string;
            /** @description A name for people. It need not be unique. */
            name?: string;
            /** @description Where calls go. They append their path and query. */
            destination_url?: string;
            /** @description Changes of the request without code. They run in order, before the request transform. */
            request_transforms?: components["schemas"]["KeepableRequestStep"][];
            /** @description Changes of the answer without code. They run in order, after the response transform. */
            response_transforms?: components["schemas"]["KeepableResponseStep"][];
            /** @description Values by name, which code reads. Stored sealed. */
            configuration?: {
                [key: string]: string | number | boolean;
            };
            /** @description Whether calls need a key of an application with `token:use`. */
            require_auth?: boolean;
            /** @description Whether expressions in requests are replaced. */
            detokenize?: boolean;
            /**
             * @description `warm`: processes of the code are used again. `run`: each run has a new one.
             * @enum {string}
             */
            isolation?: "warm" | "run";
            /** @description How long the destination may take to answer, in milliseconds. */
            timeout_ms?: number;
            client_certificate?: components["schemas"]["ClientCertificateInput"];
            /** @description The authorities as PEM that vouch for the destination. */
            certificate_authority?: string;
            /** @description Whether what a call puts in is taken out of its answer. */
            scrub?: boolean;
            match?: components["schemas"]["MatchInput"];
            /**
             * @description `request`: to the origin that the request names, in place of `destination_url`.
             * @enum {string}
             */
            forward_to?: "request";
            /** @description The origins of the pages in browsers that may call. */
            allowed_origins?: string[];
            request_transform?: components["schemas"]["RehearsedTransform"];
            response_transform?: components["schemas"]["RehearsedTransform"];
        };
        /** @description The request, as a caller would send it. */
        RehearsedRequest: {
            /** @description Values by name. A header that comes several times has a list. */
            headers?: unknown;
            /** @description The body, as text. */
            body?: string;
            /** @description The method. */
            method?: unknown;
            /** @description The path behind `/proxy`. */
            path?: unknown;
            /** @description The query, without its `?`. */
            query?: unknown;
        };
        /** @description The answer, as the destination would send it. */
        RehearsedAnswer: {
            /** @description Values by name. A header that comes several times has a list. */
            headers?: unknown;
            /** @description The body, as text. */
            body?: string;
            /** @description Where it stands. */
            status?: number;
        };
        RehearseProxy: {
            proxy?: components["schemas"]["RehearsedProxy"];
            /**
             * Format: uuid
             * @description The proxy.
             */
            proxy_id?: string;
            request: components["schemas"]["RehearsedRequest"];
            answer?: components["schemas"]["RehearsedAnswer"];
            /**
             * Format: uuid
             * @description The session of a debugger that is to see the code, as `glovebox dev --inspect` makes it.
             */
            inspect?: string;
        };
        RerunInput: {
            /** @description Whether the result is sent to where that of the run went. */
            callback?: boolean;
        };
        /** @description Which webhooks. Those that have ended are taken alone. */
        ReplayFilter: {
            /**
             * @description Where it stands.
             * @enum {string}
             */
            status?: "delivered" | "failed";
            /**
             * Format: uuid
             * @description The reactor.
             */
            reactor_id?: string;
            /** @description The host, without a port. */
            host?: string;
            /**
             * Format: date-time
             * @description Nothing earlier.
             */
            from?: string;
            /**
             * Format: date-time
             * @description Nothing later.
             */
            to?: string;
        };
        ReplayDeliveries: {
            filter: components["schemas"]["ReplayFilter"];
            /** @description How many are taken at most, the newest first. */
            limit?: number;
            /** @description Whether they are counted alone. */
            dry_run?: boolean;
        };
        StartListener: {
            /**
             * Format: uuid
             * @description The reactor.
             */
            reactor_id?: string;
        };
        UpdateTenant: {
            /** @description A name for people. It need not be unique. */
            name: string;
            /** @description Settings of the tenant. */
            settings?: {
                [key: string]: string;
            };
        };
        CreateToken: {
            /** @description The data: any JSON, in the form of its type. */
            data: unknown;
            /** @description What is shown in the place of the data, with expressions over it. */
            mask?: unknown;
            /** @description The container that it is in. */
            containers?: string[];
            /** @description Texts by name, stored in the clear: lists filter by them. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Where the values may go: hosts, with a port or the beginning of a path. */
            destinations?: string[];
            /** @description Expressions over the data, by whose values it is found. */
            search_indexes?: string[];
            /** @description What of the data the fingerprint is made of. */
            fingerprint_expression?: string;
            /**
             * Format: date-time
             * @description From then on it counts as deleted.
             */
            expires_at?: string;
            /** @description An id of your own. Made for you by default. */
            id?: string;
            /**
             * @description The type, which decides the form of the data and its mask.
             * @enum {string}
             */
            type?: "token" | "card" | "bank" | "card_number" | "us_bank_account_number" | "us_bank_routing_number" | "social_security_number" | "employer_id_number";
            /** @description Whether a token with the same fingerprint is answered in place of a new one. */
            deduplicate_token?: boolean;
        };
        SearchTokens: {
            /** @description The terms. */
            query: string;
            /** @description The number of the page, from 1. */
            page?: number;
            /** @description Entries on a page. */
            size?: number;
            /** @description The `after` of the page before, in place of `page`. */
            after?: string;
        };
        /** @description RFC 7386: members that are left out stay as they are, null removes. */
        TokenChangePatch: {
            /** @description The new data, in the form of the type. */
            data?: unknown;
            /** @description What is shown in the place of the data, with expressions over it. */
            mask?: unknown;
            /** @description The container that it is in. */
            containers?: string[] | null;
            /** @description Texts by name, stored in the clear: lists filter by them. */
            metadata?: {
                [key: string]: string | null;
            } | null;
            /** @description Where the values may go: hosts, with a port or the beginning of a path. */
            destinations?: string[] | null;
            /** @description Expressions over the data, by whose values it is found. */
            search_indexes?: string[] | null;
            /** @description What of the data the fingerprint is made of. */
            fingerprint_expression?: string | null;
            /**
             * Format: date-time
             * @description From then on it counts as deleted.
             */
            expires_at?: string | null;
        };
    };
    responses: {
        /** @description The answer of the destination, or `proxy_error` if the proxy itself failed. */
        ProxyAnswer: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-PROXY-DESTINATION-STATUS": components["headers"]["SVC-PROXY-DESTINATION-STATUS"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ProxyError"] | unknown;
            };
        };
        /** @description `invalid_json`: The body is not valid JSON. `invalid_request`: The request is malformed. `loop_detected`: The request has been through here before. `validation_failed`: One or more validation errors occurred. */
        "invalid_json.invalid_request.loop_detected.validation_failed": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `invalid_api_key`: The API key is missing or not valid. */
        invalid_api_key: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `permission_denied`: The API key does not permit this. */
        permission_denied: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `conflict`: The request conflicts with what is stored. `request_in_progress`: A request with this idempotency key is under way. */
        "conflict.request_in_progress": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `payload_too_large`: The payload is too large. */
        payload_too_large: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `unsupported_media_type`: The media type is not supported. */
        unsupported_media_type: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `idempotency_key_reused`: The idempotency key was used with another body. */
        idempotency_key_reused: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `rate_limited`: Too many requests. `share_exhausted`: Too much of this tenant is under way. */
        "rate_limited.share_exhausted": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `internal_error`: Something went wrong on our side. */
        internal_error: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `newer_definition`: A newer release wrote what this call needs. `service_unavailable`: The service is not available at the moment. */
        "newer_definition.service_unavailable": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `invalid_request`: The request is malformed. `loop_detected`: The request has been through here before. `validation_failed`: One or more validation errors occurred. */
        "invalid_request.loop_detected.validation_failed": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `invalid_request`: The request is malformed. `loop_detected`: The request has been through here before. */
        "invalid_request.loop_detected": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `rate_limited`: Too many requests. */
        rate_limited: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `not_found`: Not found. */
        not_found: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `conflict`: The request conflicts with what is stored. */
        conflict: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `precondition_failed`: The resource has changed meanwhile. */
        precondition_failed: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `invalid_json`: The body is not valid JSON. `invalid_request`: The request is malformed. `loop_detected`: The request has been through here before. `unknown_token`: A token cannot be found. `validation_failed`: One or more validation errors occurred. */
        "invalid_json.invalid_request.loop_detected.unknown_token.validation_failed": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `idempotency_key_reused`: The idempotency key was used with another body. `invalid_code`: The code cannot be used. */
        "idempotency_key_reused.invalid_code": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `invalid_code`: The code cannot be used. */
        invalid_code: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `conflict`: The request conflicts with what is stored. `deployment_conflict`: Resources were changed since they were deployed. `request_in_progress`: A request with this idempotency key is under way. */
        "conflict.deployment_conflict.request_in_progress": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `changed_meanwhile`: A definition changed while the call was under way; it may be repeated. `request_in_progress`: A request with this idempotency key is under way. */
        "changed_meanwhile.request_in_progress": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `newer_definition`: A newer release wrote what this call needs. `no_capacity`: No free capacity to run the code. `service_unavailable`: The service is not available at the moment. */
        "newer_definition.no_capacity.service_unavailable": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `data_gone`: Data that the answer shows is gone. */
        data_gone: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `request_in_progress`: A request with this idempotency key is under way. */
        request_in_progress: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `destination_not_allowed`: A token may not go there. `permission_denied`: The API key does not permit this. */
        "destination_not_allowed.permission_denied": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `invalid_expression`: A detokenization expression is invalid. `invalid_json`: The body is not valid JSON. `invalid_request`: The request is malformed. `loop_detected`: The request has been through here before. `unknown_token`: A token cannot be found. `validation_failed`: One or more validation errors occurred. */
        "invalid_expression.invalid_json.invalid_request.loop_detected.unknown_token.validation_failed": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `application_gone`: The application of the proxy or reactor is gone. `changed_meanwhile`: A definition changed while the call was under way; it may be repeated. `request_in_progress`: A request with this idempotency key is under way. */
        "application_gone.changed_meanwhile.request_in_progress": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `internal_error`: Something went wrong on our side. `invalid_reactor_result`: The reactor returned something unusable. `reactor_crashed`: The reactor stopped before it answered. `reactor_error`: The reactor reported an error. `run_interrupted`: The run was interrupted after its code had started. */
        "internal_error.invalid_reactor_result.reactor_crashed.reactor_error.run_interrupted": {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `reactor_timeout`: The reactor did not answer in time. */
        reactor_timeout: {
            headers: {
                "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description The id. */
        id: string;
        /** @description Returned in the answer and written to the log. */
        traceId: string;
        /** @description A call with a key and body that were sent before is not executed again. */
        idempotencyKey: string;
        /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
        ifMatch: string;
        /** @description Whether members of the body that nothing reads are refused. */
        strict: boolean;
        /** @description The key of the proxy. It may be in the query instead. */
        proxyKey: string;
        /** @description A destination in place of a proxy, for tenants that have set `enable_ephemeral_proxy`. */
        proxyUrl: string;
        /** @description The key of the proxy, for callers that cannot set headers. */
        proxyKeyInQuery: string;
    };
    requestBodies: never;
    headers: {
        /** @description Names the call. */
        "SVC-TRACE-ID": string;
        /** @description The call was made before, and is answered again. */
        "SVC-IDEMPOTENT-REPLAY": "true";
        /** @description The first ten members of the body that nothing reads, then the number of others. */
        "SVC-UNKNOWN-MEMBERS": string;
        /** @description The status of the destination, where it answered. */
        "SVC-PROXY-DESTINATION-STATUS": number;
        /** @description The version of the resource, for If-Match. */
        ETag: string;
        /** @description Seconds after which the call may be repeated. */
        "Retry-After": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listApplications: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1. */
                page?: number;
                /** @description Entries on a page. */
                size?: number;
                /** @description The `after` of the page before, in place of `page`. */
                after?: string;
                /** @description Only entries with this id. Repeat it for several. */
                id?: string[];
                /** @description Only entries with this whole name, in any case. `*` stands for any characters: `orders*` finds `Orders EU`, `orders` does not. */
                name?: string;
                /** @description Only the entry with this slug. */
                slug?: string;
                /** @description Only applications of this type. */
                type?: "private" | "public" | "management";
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List applications, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "total_items": 41,
                     *         "page_number": 1,
                     *         "page_size": 20,
                     *         "total_pages": 3,
                     *         "after": "MTc5MzU1MzQ2NzAwMC4yMC42ZjBkNmQzYS01YzBiLTRiM2UtOWQwYy0wYTRjMWUxZjdhMTA"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *           "name": "Checkout",
                     *           "type": "private",
                     *           "permissions": [
                     *             "token:create",
                     *             "token:use"
                     *           ],
                     *           "rules": [],
                     *           "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "modified_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ApplicationPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    createApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Checkout",
                 *       "type": "private",
                 *       "permissions": [
                 *         "token:create",
                 *         "token:use"
                 *       ],
                 *       "rules": [
                 *         {
                 *           "priority": 1,
                 *           "container": "/pci/",
                 *           "transform": "reveal",
                 *           "permissions": [
                 *             "token:read"
                 *           ]
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateApplication"];
            };
        };
        responses: {
            /** @description Create an application and its first key */
            201: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "name": "Checkout",
                     *       "type": "private",
                     *       "permissions": [
                     *         "token:create",
                     *         "token:use"
                     *       ],
                     *       "rules": [],
                     *       "key": "key_0000000000000000000000000000000",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedApplication"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["conflict.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getOwnApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the application of the caller */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "name": "Checkout",
                     *       "type": "private",
                     *       "permissions": [
                     *         "token:create",
                     *         "token:use"
                     *       ],
                     *       "rules": [],
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Application"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get an application */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "name": "Checkout",
                     *       "type": "private",
                     *       "permissions": [
                     *         "token:create",
                     *         "token:use"
                     *       ],
                     *       "rules": [],
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Application"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    updateApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Checkout",
                 *       "type": "private",
                 *       "permissions": [
                 *         "token:create",
                 *         "token:use"
                 *       ],
                 *       "rules": [
                 *         {
                 *           "priority": 1,
                 *           "container": "/pci/",
                 *           "transform": "reveal",
                 *           "permissions": [
                 *             "token:read"
                 *           ]
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["UpdateApplication"];
            };
        };
        responses: {
            /** @description Replace an application; its keys stay */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "name": "Checkout",
                     *       "type": "private",
                     *       "permissions": [
                     *         "token:create",
                     *         "token:use"
                     *       ],
                     *       "rules": [],
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Application"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    deleteApplication: {
        parameters: {
            query?: {
                /** @description Delete it although it is used. What needs it then gets `application_gone`. */
                force?: boolean;
            };
            header?: {
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete an application and its keys */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            412: components["responses"]["precondition_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    patchApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "permissions": [
                 *         "token:use"
                 *       ],
                 *       "expires_at": null
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["UpdateApplicationPatch"];
            };
        };
        responses: {
            /** @description Change members of an application */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    decideForApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                 *       "permission": "token:read"
                 *     }
                 */
                "application/json": components["schemas"]["AskDecision"];
            };
        };
        responses: {
            /** @description Ask what the application may do with a token, and what it would see */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "allowed": true,
                     *       "container": "/pci/high/",
                     *       "transform": "mask",
                     *       "by": "rule",
                     *       "rule": {
                     *         "description": "",
                     *         "priority": 1,
                     *         "container": "/pci/",
                     *         "transform": "mask",
                     *         "permissions": [
                     *           "token:read"
                     *         ]
                     *       },
                     *       "reason": "A rule for /pci/ of priority 1 gives the mask."
                     *     }
                     */
                    "application/json": components["schemas"]["Decision"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.unknown_token.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    regenerateApplicationKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Create a new key and revoke all others */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "name": "Checkout",
                     *       "type": "private",
                     *       "permissions": [
                     *         "token:create",
                     *         "token:use"
                     *       ],
                     *       "rules": [],
                     *       "key": "key_0000000000000000000000000000000",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["RegeneratedApplication"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict.request_in_progress"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listApplicationKeys: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the keys of an application, without the keys themselves */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *         "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *         "created_at": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["ApplicationKey"][];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    createApplicationKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Create another key */
            201: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "key": "key_0000000000000000000000000000000",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedApplicationKey"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getApplicationKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
                /** @description The id of the key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a key, without the key itself */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ApplicationKey"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    deleteApplicationKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
                /** @description The id of the key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoke a key */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listPermissions: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List all permissions, and the application types that may hold each */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "type": "token:use",
                     *         "description": "Use tokens",
                     *         "application_types": [
                     *           "private"
                     *         ]
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Permission"][];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listReactorFormulas: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1. */
                page?: number;
                /** @description Entries on a page. */
                size?: number;
                /** @description The `after` of the page before, in place of `page`. */
                after?: string;
                /** @description Only entries with this id. Repeat it for several. */
                id?: string[];
                /** @description Only entries with this whole name, in any case. `*` stands for any characters: `orders*` finds `Orders EU`, `orders` does not. */
                name?: string;
                /** @description Only the entry with this slug. */
                slug?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List reactor formulas, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "total_items": 41,
                     *         "page_number": 1,
                     *         "page_size": 20,
                     *         "total_pages": 3,
                     *         "after": "MTc5MzU1MzQ2NzAwMC4yMC42ZjBkNmQzYS01YzBiLTRiM2UtOWQwYy0wYTRjMWUxZjdhMTA"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
                     *           "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *           "type": "private",
                     *           "name": "Charge a card",
                     *           "configuration": [
                     *             {
                     *               "name": "API_KEY",
                     *               "type": "string"
                     *             }
                     *           ],
                     *           "request_parameters": [
                     *             {
                     *               "name": "card.number",
                     *               "type": "string",
                     *               "optional": false,
                     *               "loggable": false
                     *             }
                     *           ],
                     *           "runtime": "node24",
                     *           "code": "module.exports = async (req) => ({ raw: {} })",
                     *           "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "modified_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ReactorFormulaPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    createReactorFormula: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Charge a card",
                 *       "code": "module.exports = async (req) => ({ raw: { last4: req.args.card.number.slice(-4) } })",
                 *       "configuration": [
                 *         {
                 *           "name": "API_KEY",
                 *           "type": "string"
                 *         }
                 *       ],
                 *       "request_parameters": [
                 *         {
                 *           "name": "card.number",
                 *           "type": "string"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["FormulaInput"];
            };
        };
        responses: {
            /** @description Create a reactor formula */
            201: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "type": "private",
                     *       "name": "Charge a card",
                     *       "configuration": [
                     *         {
                     *           "name": "API_KEY",
                     *           "type": "string"
                     *         }
                     *       ],
                     *       "request_parameters": [
                     *         {
                     *           "name": "card.number",
                     *           "type": "string",
                     *           "optional": false,
                     *           "loggable": false
                     *         }
                     *       ],
                     *       "runtime": "node24",
                     *       "code": "module.exports = async (req) => ({ raw: {} })",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedReactorFormula"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["conflict.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused.invalid_code"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getReactorFormula: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a reactor formula */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "type": "private",
                     *       "name": "Charge a card",
                     *       "configuration": [
                     *         {
                     *           "name": "API_KEY",
                     *           "type": "string"
                     *         }
                     *       ],
                     *       "request_parameters": [
                     *         {
                     *           "name": "card.number",
                     *           "type": "string",
                     *           "optional": false,
                     *           "loggable": false
                     *         }
                     *       ],
                     *       "runtime": "node24",
                     *       "code": "module.exports = async (req) => ({ raw: {} })",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ReactorFormula"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    updateReactorFormula: {
        parameters: {
            query?: never;
            header?: {
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Charge a card",
                 *       "code": "module.exports = async (req) => ({ raw: { last4: req.args.card.number.slice(-4) } })",
                 *       "configuration": [
                 *         {
                 *           "name": "API_KEY",
                 *           "type": "string"
                 *         }
                 *       ],
                 *       "request_parameters": [
                 *         {
                 *           "name": "card.number",
                 *           "type": "string"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["FormulaInput"];
            };
        };
        responses: {
            /** @description Replace a reactor formula */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "type": "private",
                     *       "name": "Charge a card",
                     *       "configuration": [
                     *         {
                     *           "name": "API_KEY",
                     *           "type": "string"
                     *         }
                     *       ],
                     *       "request_parameters": [
                     *         {
                     *           "name": "card.number",
                     *           "type": "string",
                     *           "optional": false,
                     *           "loggable": false
                     *         }
                     *       ],
                     *       "runtime": "node24",
                     *       "code": "module.exports = async (req) => ({ raw: {} })",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ReactorFormula"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid_code"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    deleteReactorFormula: {
        parameters: {
            query?: never;
            header?: {
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a reactor formula that no reactor uses */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            412: components["responses"]["precondition_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    patchReactorFormula: {
        parameters: {
            query?: never;
            header?: {
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "description": null,
                 *       "name": "Charge any card"
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["FormulaInputPatch"];
            };
        };
        responses: {
            /** @description Change members of a reactor formula */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid_code"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listReactors: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1. */
                page?: number;
                /** @description Entries on a page. */
                size?: number;
                /** @description The `after` of the page before, in place of `page`. */
                after?: string;
                /** @description Only entries with this id. Repeat it for several. */
                id?: string[];
                /** @description Only entries with this whole name, in any case. `*` stands for any characters: `orders*` finds `Orders EU`, `orders` does not. */
                name?: string;
                /** @description Only the entry with this slug. */
                slug?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List reactors, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "total_items": 41,
                     *         "page_number": 1,
                     *         "page_size": 20,
                     *         "total_pages": 3,
                     *         "after": "MTc5MzU1MzQ2NzAwMC4yMC42ZjBkNmQzYS01YzBiLTRiM2UtOWQwYy0wYTRjMWUxZjdhMTA"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *           "name": "Charge with the bank",
                     *           "formula": {
                     *             "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
                     *             "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *             "type": "private",
                     *             "name": "Charge a card",
                     *             "configuration": [
                     *               {
                     *                 "name": "API_KEY",
                     *                 "type": "string"
                     *               }
                     *             ],
                     *             "request_parameters": [
                     *               {
                     *                 "name": "card.number",
                     *                 "type": "string",
                     *                 "optional": false,
                     *                 "loggable": false
                     *               }
                     *             ],
                     *             "runtime": "node24",
                     *             "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *             "created_at": "2026-01-31T12:00:00.000Z",
                     *             "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *             "modified_at": "2026-01-31T12:00:00.000Z"
                     *           },
                     *           "configuration": {
                     *             "API_KEY": "secret of the bank"
                     *           },
                     *           "isolation": "warm",
                     *           "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "modified_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ReactorPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    createReactor: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Charge with the bank",
                 *       "formula": {
                 *         "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42"
                 *       },
                 *       "configuration": {
                 *         "API_KEY": "secret"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreateReactor"];
            };
        };
        responses: {
            /** @description Create a reactor: a formula with its configuration */
            201: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "name": "Charge with the bank",
                     *       "formula": {
                     *         "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
                     *         "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *         "type": "private",
                     *         "name": "Charge a card",
                     *         "configuration": [
                     *           {
                     *             "name": "API_KEY",
                     *             "type": "string"
                     *           }
                     *         ],
                     *         "request_parameters": [
                     *           {
                     *             "name": "card.number",
                     *             "type": "string",
                     *             "optional": false,
                     *             "loggable": false
                     *           }
                     *         ],
                     *         "runtime": "node24",
                     *         "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *         "modified_at": "2026-01-31T12:00:00.000Z"
                     *       },
                     *       "configuration": {
                     *         "API_KEY": "secret of the bank"
                     *       },
                     *       "isolation": "warm",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedReactor"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["conflict.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getReactor: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a reactor */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "name": "Charge with the bank",
                     *       "formula": {
                     *         "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
                     *         "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *         "type": "private",
                     *         "name": "Charge a card",
                     *         "configuration": [
                     *           {
                     *             "name": "API_KEY",
                     *             "type": "string"
                     *           }
                     *         ],
                     *         "request_parameters": [
                     *           {
                     *             "name": "card.number",
                     *             "type": "string",
                     *             "optional": false,
                     *             "loggable": false
                     *           }
                     *         ],
                     *         "runtime": "node24",
                     *         "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *         "modified_at": "2026-01-31T12:00:00.000Z"
                     *       },
                     *       "configuration": {
                     *         "API_KEY": "secret of the bank"
                     *       },
                     *       "isolation": "warm",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Reactor"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    updateReactor: {
        parameters: {
            query?: never;
            header?: {
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Charge with the bank",
                 *       "configuration": {
                 *         "API_KEY": "new secret"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["UpdateReactor"];
            };
        };
        responses: {
            /** @description Replace a reactor; its formula stays */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "name": "Charge with the bank",
                     *       "formula": {
                     *         "id": "b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42",
                     *         "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *         "type": "private",
                     *         "name": "Charge a card",
                     *         "configuration": [
                     *           {
                     *             "name": "API_KEY",
                     *             "type": "string"
                     *           }
                     *         ],
                     *         "request_parameters": [
                     *           {
                     *             "name": "card.number",
                     *             "type": "string",
                     *             "optional": false,
                     *             "loggable": false
                     *           }
                     *         ],
                     *         "runtime": "node24",
                     *         "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *         "modified_at": "2026-01-31T12:00:00.000Z"
                     *       },
                     *       "configuration": {
                     *         "API_KEY": "secret of the bank"
                     *       },
                     *       "isolation": "warm",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["UpdatedReactor"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    deleteReactor: {
        parameters: {
            query?: never;
            header?: {
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a reactor */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            412: components["responses"]["precondition_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    patchReactor: {
        parameters: {
            query?: never;
            header?: {
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "application": null,
                 *       "configuration": {
                 *         "API_KEY": "new secret"
                 *       }
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["CreateReactorPatch"];
            };
        };
        responses: {
            /** @description Change members of a reactor */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listProxies: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1. */
                page?: number;
                /** @description Entries on a page. */
                size?: number;
                /** @description The `after` of the page before, in place of `page`. */
                after?: string;
                /** @description Only entries with this id. Repeat it for several. */
                id?: string[];
                /** @description Only entries with this whole name, in any case. `*` stands for any characters: `orders*` finds `Orders EU`, `orders` does not. */
                name?: string;
                /** @description Only the entry with this slug. */
                slug?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List proxies, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "total_items": 41,
                     *         "page_number": 1,
                     *         "page_size": 20,
                     *         "total_pages": 3,
                     *         "after": "MTc5MzU1MzQ2NzAwMC4yMC42ZjBkNmQzYS01YzBiLTRiM2UtOWQwYy0wYTRjMWUxZjdhMTA"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "key": "4xYQ0bN2mVtW8rZc6KpLsE",
                     *           "name": "The bank",
                     *           "destination_url": "https://api.bank.example",
                     *           "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *           "require_auth": true,
                     *           "detokenize": true,
                     *           "isolation": "warm",
                     *           "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "modified_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ProxyPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    createProxy: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "The bank",
                 *       "destination_url": "https://api.bank.example",
                 *       "request_transform": {
                 *         "code": "module.exports = async ({ args }) => args"
                 *       },
                 *       "configuration": {
                 *         "API_KEY": "secret"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ProxyInput"];
            };
        };
        responses: {
            /** @description Create a proxy */
            201: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "key": "4xYQ0bN2mVtW8rZc6KpLsE",
                     *       "name": "The bank",
                     *       "destination_url": "https://api.bank.example",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "require_auth": true,
                     *       "detokenize": true,
                     *       "isolation": "warm",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedProxy"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["conflict.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused.invalid_code"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getProxy: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a proxy */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "key": "4xYQ0bN2mVtW8rZc6KpLsE",
                     *       "name": "The bank",
                     *       "destination_url": "https://api.bank.example",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "require_auth": true,
                     *       "detokenize": true,
                     *       "isolation": "warm",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Proxy"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    updateProxy: {
        parameters: {
            query?: never;
            header?: {
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "The bank",
                 *       "destination_url": "https://api.bank.example",
                 *       "request_transform": {
                 *         "code": "module.exports = async ({ args }) => args"
                 *       },
                 *       "configuration": {
                 *         "API_KEY": "secret"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ProxyInput"];
            };
        };
        responses: {
            /** @description Replace a proxy; its key stays */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "key": "4xYQ0bN2mVtW8rZc6KpLsE",
                     *       "name": "The bank",
                     *       "destination_url": "https://api.bank.example",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "require_auth": true,
                     *       "detokenize": true,
                     *       "isolation": "warm",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Proxy"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid_code"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    deleteProxy: {
        parameters: {
            query?: never;
            header?: {
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a proxy and revoke its key */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            412: components["responses"]["precondition_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    patchProxy: {
        parameters: {
            query?: never;
            header?: {
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "application": null,
                 *       "configuration": {
                 *         "API_KEY": null
                 *       }
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["ProxyInputPatch"];
            };
        };
        responses: {
            /** @description Change members of a proxy */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid_code"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listDeployments: {
        parameters: {
            query?: {
                /** @description Entries on a page. */
                size?: number;
                /** @description The cursor of the answer before. */
                after?: string;
                /** @description Not made before this time. */
                from?: string;
                /** @description Not made after this time. */
                to?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List deployments, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "page_size": 20,
                     *         "after": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *           "counts": {
                     *             "created": 0,
                     *             "updated": 1,
                     *             "unchanged": 0,
                     *             "pruned": 0
                     *           },
                     *           "trace_id": "push-7",
                     *           "message": "Retry declined cards",
                     *           "project": "shop",
                     *           "created_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DeploymentPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    createDeployment: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "message": "Retry declined cards",
                 *       "project": "shop",
                 *       "items": [
                 *         {
                 *           "kind": "application",
                 *           "slug": "checkout",
                 *           "name": "Checkout",
                 *           "type": "private",
                 *           "permissions": [
                 *             "token:use"
                 *           ]
                 *         },
                 *         {
                 *           "kind": "reactor",
                 *           "slug": "charge",
                 *           "name": "Charge",
                 *           "application": {
                 *             "slug": "checkout"
                 *           },
                 *           "formula": {
                 *             "code": "module.exports = async (req) => ({ raw: {} });",
                 *             "runtime": "node24",
                 *             "configuration": [
                 *               {
                 *                 "name": "API_KEY",
                 *                 "type": "string"
                 *               }
                 *             ]
                 *           },
                 *           "configuration": {
                 *             "API_KEY": null
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateDeployment"];
            };
        };
        responses: {
            /** @description Put a set of reactors, proxies and applications in force, all at once or not at all */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "changes": [
                     *         {
                     *           "kind": "reactor",
                     *           "slug": "charge",
                     *           "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "change": "updated",
                     *           "members": [
                     *             "formula.code"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Deployed"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["conflict.deployment_conflict.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused.invalid_code"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getDeployment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a deployment with what it changed */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "counts": {
                     *         "created": 0,
                     *         "updated": 1,
                     *         "unchanged": 0,
                     *         "pruned": 0
                     *       },
                     *       "trace_id": "push-7",
                     *       "message": "Retry declined cards",
                     *       "project": "shop",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "changes": [
                     *         {
                     *           "kind": "reactor",
                     *           "slug": "charge",
                     *           "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "change": "updated",
                     *           "members": [
                     *             "formula.code"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DeploymentDetails"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    rollBackToDeployment: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "message": "Back to before the retries"
                 *     }
                 */
                "application/json": components["schemas"]["RollbackInput"];
            };
        };
        responses: {
            /** @description Put in force what a deployment had put in force */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "changes": [
                     *         {
                     *           "kind": "reactor",
                     *           "slug": "charge",
                     *           "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "change": "updated",
                     *           "members": [
                     *             "formula.code"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Deployed"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict.deployment_conflict.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused.invalid_code"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getCode: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id of the sha. */
                sha256: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a text of code that is kept, by its SHA-256 */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sha256": "c77a0b37e58dd2ec1e54ff6b4c9d0e3b81a2f5d6e7c8091a2b3c4d5e6f708192",
                     *       "code": "module.exports = async (req) => ({ raw: {} });"
                     *     }
                     */
                    "application/json": components["schemas"]["CodeText"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    uploadCode: {
        parameters: {
            query?: never;
            header?: {
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id of the sha. */
                sha256: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "module.exports = async (req) => ({ raw: {} });"
                 *     }
                 */
                "application/json": components["schemas"]["UploadCode"];
            };
        };
        responses: {
            /** @description Upload code that is too large for a resource */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sha256": "c77a0b37e58dd2ec1e54ff6b4c9d0e3b81a2f5d6e7c8091a2b3c4d5e6f708192",
                     *       "held_until": "2026-01-31T13:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["UploadedCode"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid_code"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    uploadSourceMap: {
        parameters: {
            query?: never;
            header?: {
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id of the sha. */
                sha256: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "map": "{\"version\":3,\"sources\":[\"reactors/charge/code.ts\"],\"names\":[],\"mappings\":\"AAAA\"}"
                 *     }
                 */
                "application/json": components["schemas"]["UploadMap"];
            };
        };
        responses: {
            /** @description Upload the source map of an uploaded text */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sha256": "c77a0b37e58dd2ec1e54ff6b4c9d0e3b81a2f5d6e7c8091a2b3c4d5e6f708192"
                     *     }
                     */
                    "application/json": components["schemas"]["UploadedMap"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listCaptures: {
        parameters: {
            query?: {
                /** @description Entries on a page. */
                size?: number;
                /** @description The cursor of the answer before. */
                after?: string;
                /** @description Not ended before this time. */
                from?: string;
                /** @description Not ended after this time. */
                to?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the captured calls of a proxy, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "page_size": 20,
                     *         "after": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *           "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
                     *           "trace_id": "order-7",
                     *           "method": "POST",
                     *           "whole": false,
                     *           "bytes": 812,
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "status": 201
                     *         }
                     *       ],
                     *       "window": {
                     *         "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
                     *         "until": "2026-01-31T12:10:00.000Z",
                     *         "whole": false
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CapturePage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    startCapture: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "minutes": 10
                 *     }
                 */
                "application/json": components["schemas"]["StartCapture"];
            };
        };
        responses: {
            /** @description Keep the shapes of the calls of a proxy for some minutes */
            201: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
                     *       "until": "2026-01-31T12:10:00.000Z",
                     *       "whole": false
                     *     }
                     */
                    "application/json": components["schemas"]["CaptureWindow"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    endCapture: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End the capture of a proxy */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getCapture: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
                /** @description The id of the capture. */
                capture_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Read a captured call */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
                     *       "trace_id": "order-7",
                     *       "method": "POST",
                     *       "whole": false,
                     *       "bytes": 812,
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "status": 201,
                     *       "request": {
                     *         "method": "POST",
                     *         "path": "/charges",
                     *         "headers": [
                     *           [
                     *             "content-type",
                     *             "application/json"
                     *           ]
                     *         ],
                     *         "body": {
                     *           "format": "json",
                     *           "type": "application/json",
                     *           "bytes": 33,
                     *           "text": "{ amount: <number 4> }"
                     *         }
                     *       },
                     *       "sent": {
                     *         "method": "POST",
                     *         "path": "/charges",
                     *         "headers": [
                     *           [
                     *             "content-type",
                     *             "application/json"
                     *           ]
                     *         ],
                     *         "body": {
                     *           "format": "json",
                     *           "type": "application/json",
                     *           "bytes": 33,
                     *           "text": "{ amount: <number 4> }"
                     *         }
                     *       },
                     *       "received": {
                     *         "status": 201,
                     *         "headers": [
                     *           [
                     *             "content-type",
                     *             "application/json"
                     *           ]
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Capture"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getOverview: {
        parameters: {
            query?: {
                /** @description The length of the time that is counted. */
                hours?: "1" | "24" | "168";
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get what happened lately, what waits, and the state of the processes */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": "2026-01-31T11:00:00.000Z",
                     *       "to": "2026-01-31T12:00:00.000Z",
                     *       "hours": 1,
                     *       "bucket_minutes": 1,
                     *       "totals": {
                     *         "calls": 3,
                     *         "failed": 1,
                     *         "p50_ms": 12.4,
                     *         "p95_ms": 48.1
                     *       },
                     *       "resources": [
                     *         {
                     *           "resource": "/proxy",
                     *           "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
                     *           "name": "The bank",
                     *           "calls": 3,
                     *           "failed": 1
                     *         }
                     *       ],
                     *       "series": [
                     *         {
                     *           "at": "2026-01-31T11:00:00.000Z",
                     *           "calls": 3,
                     *           "failed": 1
                     *         }
                     *       ],
                     *       "waiting": {
                     *         "counted_max": 10000,
                     *         "runs": {
                     *           "pending": 0,
                     *           "running": 1,
                     *           "held": 0
                     *         },
                     *         "deliveries": {
                     *           "pending": 2,
                     *           "failing": 1,
                     *           "held": 0,
                     *           "oldest_due_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       },
                     *       "failures": [],
                     *       "processes": [
                     *         {
                     *           "id": "7f1d2c3b-4a59-4e68-8d77-9c0b1a2f3e4d",
                     *           "app": "gateway",
                     *           "version": "0.1.0",
                     *           "definition_lag": 0,
                     *           "seen_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "runners": [
                     *         {
                     *           "id": "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f",
                     *           "version": "0.1.0",
                     *           "level": 1
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Overview"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    rehearseReactor: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reactor": {
                 *         "formula": {
                 *           "code": "module.exports = ({ args }) => ({ raw: { sum: args.a + args.b } })"
                 *         }
                 *       },
                 *       "args": {
                 *         "a": 1,
                 *         "b": 41
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RehearseReactor"];
            };
        };
        responses: {
            /** @description Run unsaved code in the sandbox */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "completed",
                     *       "result": {
                     *         "raw": {
                     *           "sum": 42
                     *         }
                     *       },
                     *       "lines": [],
                     *       "duration_ms": 12
                     *     }
                     */
                    "application/json": components["schemas"]["ReactorDryRun"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["changed_meanwhile.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused.invalid_code"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.no_capacity.service_unavailable"];
        };
    };
    rehearseProxy: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "proxy": {
                 *         "destination_url": "https://api.bank.example"
                 *       },
                 *       "request": {
                 *         "path": "/pay",
                 *         "headers": {
                 *           "content-type": "application/json"
                 *         },
                 *         "body": "{}"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RehearseProxy"];
            };
        };
        responses: {
            /** @description Take a request and an answer through an unsaved proxy */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "completed",
                     *       "request": {
                     *         "method": "POST",
                     *         "url": "https://api.bank.example/pay",
                     *         "headers": {},
                     *         "body": "{}"
                     *       },
                     *       "lines": [],
                     *       "duration_ms": 3
                     *     }
                     */
                    "application/json": components["schemas"]["ProxyDryRun"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["changed_meanwhile.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused.invalid_code"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.no_capacity.service_unavailable"];
        };
    };
    listCalls: {
        parameters: {
            query?: {
                /** @description Entries on a page. */
                size?: number;
                /** @description The cursor of the answer before. */
                after?: string;
                /** @description Not ended before this time. */
                from?: string;
                /** @description Not ended after this time. */
                to?: string;
                /** @description Only calls through this proxy. */
                proxy_id?: string;
                /** @description Only calls of this reactor. */
                reactor_id?: string;
                /** @description Only calls with this outcome. Repeat it for several. */
                outcome?: ("completed" | "destination_error" | "failed" | "left")[];
                /** @description Only calls that failed with this code. */
                code?: string;
                /** @description Only calls of this application. */
                application_id?: string;
                /** @description Only calls that were answered with this status. */
                status?: number;
                /** @description Only calls with this trace id. */
                trace_id?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List calls, those that ended last first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "page_size": 20,
                     *         "after": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *           "method": "POST",
                     *           "path": "/proxy",
                     *           "outcome": "failed",
                     *           "status": 502,
                     *           "code": "destination_unreachable",
                     *           "cause": {
                     *             "phase": "tls",
                     *             "reason": "the certificate is self-signed"
                     *           },
                     *           "application_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
                     *           "trace_id": "order-7",
                     *           "started_at": "2026-01-31T12:00:00.000Z",
                     *           "ended_at": "2026-01-31T12:00:00.000Z",
                     *           "phases": {
                     *             "decided_ms": 0.21,
                     *             "asked_ms": 1.4,
                     *             "ended_ms": 18.02
                     *           },
                     *           "request_bytes": 214,
                     *           "answer_bytes": 131,
                     *           "token_ids": [
                     *             "2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a"
                     *           ],
                     *           "count": 1
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["CallPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    summarizeCalls: {
        parameters: {
            query?: {
                /** @description The first minute. An hour before `to` by default, 24 hours at most. */
                from?: string;
                /** @description The last minute. Now by default. */
                to?: string;
                /** @description Only calls through this proxy. */
                proxy_id?: string;
                /** @description Only calls of this reactor. */
                reactor_id?: string;
                /** @description Only calls with this outcome. */
                outcome?: "completed" | "destination_error" | "failed" | "left";
                /** @description Only calls of this path, such as `/proxy` or `/tokens/{id}`. */
                resource?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Count calls by minute, resource and outcome */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": "2026-01-31T12:00:00.000Z",
                     *       "to": "2026-01-31T12:00:00.000Z",
                     *       "latency_bounds_ms": [
                     *         1,
                     *         2.5,
                     *         5,
                     *         10,
                     *         25,
                     *         50,
                     *         100,
                     *         250,
                     *         500,
                     *         1000,
                     *         2500,
                     *         5000,
                     *         10000,
                     *         30000,
                     *         60000
                     *       ],
                     *       "data": [
                     *         {
                     *           "minute": "2026-01-31T12:00:00.000Z",
                     *           "resource": "/proxy",
                     *           "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
                     *           "outcome": "completed",
                     *           "calls": 3,
                     *           "duration_ms": 57.4,
                     *           "latencies": [
                     *             0,
                     *             0,
                     *             0,
                     *             1,
                     *             2,
                     *             0,
                     *             0,
                     *             0,
                     *             0,
                     *             0,
                     *             0,
                     *             0,
                     *             0,
                     *             0,
                     *             0,
                     *             0
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["CallSummary"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getCall: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a call */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "method": "POST",
                     *       "path": "/proxy",
                     *       "outcome": "failed",
                     *       "status": 502,
                     *       "code": "destination_unreachable",
                     *       "cause": {
                     *         "phase": "tls",
                     *         "reason": "the certificate is self-signed"
                     *       },
                     *       "application_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "proxy_id": "4a7e2f60-91c3-4d58-b7aa-3e1f0c9d8b21",
                     *       "trace_id": "order-7",
                     *       "started_at": "2026-01-31T12:00:00.000Z",
                     *       "ended_at": "2026-01-31T12:00:00.000Z",
                     *       "phases": {
                     *         "decided_ms": 0.21,
                     *         "asked_ms": 1.4,
                     *         "ended_ms": 18.02
                     *       },
                     *       "request_bytes": 214,
                     *       "answer_bytes": 131,
                     *       "token_ids": [
                     *         "2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a"
                     *       ],
                     *       "count": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Call"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description Entries on a page. */
                size?: number;
                /** @description The cursor of the answer before. */
                after?: string;
                /** @description Not accepted before this time. */
                from?: string;
                /** @description Not accepted after this time. */
                to?: string;
                /** @description Only runs with this status. */
                status?: "pending" | "running" | "held" | "completed" | "failed";
                /** @description Only runs of this kind. */
                kind?: "reactor" | "transform";
                /** @description Only runs of this call. */
                trace_id?: string;
                /** @description Only runs of this reactor or proxy. */
                resource_id?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List runs, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "page_size": 20,
                     *         "after": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *           "kind": "reactor",
                     *           "resource_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "application_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "mode": "async",
                     *           "status": "failed",
                     *           "outcome": "reactor_error",
                     *           "http_status": 500,
                     *           "argument_names": [
                     *             "card.number"
                     *           ],
                     *           "token_ids": [
                     *             "2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a"
                     *           ],
                     *           "trace_id": "order-7",
                     *           "attempt": 1,
                     *           "queued_ms": 12,
                     *           "duration_ms": 184,
                     *           "position": {
                     *             "line": 3,
                     *             "column": 9
                     *           },
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "started_at": "2026-01-31T12:00:00.000Z",
                     *           "ended_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a run with its output, and the attempts of its webhook */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "kind": "reactor",
                     *       "resource_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "application_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "mode": "async",
                     *       "status": "failed",
                     *       "outcome": "reactor_error",
                     *       "http_status": 500,
                     *       "argument_names": [
                     *         "card.number"
                     *       ],
                     *       "token_ids": [
                     *         "2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a"
                     *       ],
                     *       "trace_id": "order-7",
                     *       "attempt": 1,
                     *       "queued_ms": 12,
                     *       "duration_ms": 184,
                     *       "position": {
                     *         "line": 3,
                     *         "column": 9
                     *       },
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "started_at": "2026-01-31T12:00:00.000Z",
                     *       "ended_at": "2026-01-31T12:00:00.000Z",
                     *       "message": "the bank declined: 51",
                     *       "stack": [
                     *         {
                     *           "function": "charge",
                     *           "line": 3,
                     *           "column": 9
                     *         },
                     *         {
                     *           "function": "module.exports",
                     *           "line": 12,
                     *           "column": 5
                     *         }
                     *       ],
                     *       "lines": [
                     *         {
                     *           "at": "2026-01-31T12:00:00.000Z",
                     *           "level": "info",
                     *           "text": "the bank declined"
                     *         }
                     *       ],
                     *       "code": "module.exports = async ({ args, configuration }) => {\n  …\n};",
                     *       "code_changed": false,
                     *       "webhook": {
                     *         "status": "delivered",
                     *         "attempts": [
                     *           {
                     *             "at": "2026-01-31T12:00:00.000Z",
                     *             "ms": 48,
                     *             "status": 200,
                     *             "outcome": "delivered"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["RunDetails"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    rerunRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "callback": true
                 *     }
                 */
                "application/json": components["schemas"]["RerunInput"];
            };
        };
        responses: {
            /** @description Repeat a failed run in the background */
            202: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "async_request_id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "asyncReactorRequestId": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "again": {
                     *         "reactor_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *         "token_ids": [],
                     *         "says": [
                     *           "The code of now runs on the arguments of then."
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Rerun"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.unknown_token.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict.request_in_progress"];
            410: components["responses"]["data_gone"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listReactorRuns: {
        parameters: {
            query?: {
                /** @description Entries on a page. */
                size?: number;
                /** @description The cursor of the answer before. */
                after?: string;
                /** @description Not accepted before this time. */
                from?: string;
                /** @description Not accepted after this time. */
                to?: string;
                /** @description Only runs with this status. */
                status?: "pending" | "running" | "held" | "completed" | "failed";
                /** @description Only runs of this kind. */
                kind?: "reactor" | "transform";
                /** @description Only runs of this call. */
                trace_id?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the runs of a reactor, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "page_size": 20,
                     *         "after": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *           "kind": "reactor",
                     *           "resource_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "application_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "mode": "async",
                     *           "status": "failed",
                     *           "outcome": "reactor_error",
                     *           "http_status": 500,
                     *           "argument_names": [
                     *             "card.number"
                     *           ],
                     *           "token_ids": [
                     *             "2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a"
                     *           ],
                     *           "trace_id": "order-7",
                     *           "attempt": 1,
                     *           "queued_ms": 12,
                     *           "duration_ms": 184,
                     *           "position": {
                     *             "line": 3,
                     *             "column": 9
                     *           },
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "started_at": "2026-01-31T12:00:00.000Z",
                     *           "ended_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getReactorRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
                /** @description The id of the run. */
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a run with its output, and the attempts of its webhook */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "kind": "reactor",
                     *       "resource_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "application_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "mode": "async",
                     *       "status": "failed",
                     *       "outcome": "reactor_error",
                     *       "http_status": 500,
                     *       "argument_names": [
                     *         "card.number"
                     *       ],
                     *       "token_ids": [
                     *         "2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a"
                     *       ],
                     *       "trace_id": "order-7",
                     *       "attempt": 1,
                     *       "queued_ms": 12,
                     *       "duration_ms": 184,
                     *       "position": {
                     *         "line": 3,
                     *         "column": 9
                     *       },
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "started_at": "2026-01-31T12:00:00.000Z",
                     *       "ended_at": "2026-01-31T12:00:00.000Z",
                     *       "message": "the bank declined: 51",
                     *       "stack": [
                     *         {
                     *           "function": "charge",
                     *           "line": 3,
                     *           "column": 9
                     *         },
                     *         {
                     *           "function": "module.exports",
                     *           "line": 12,
                     *           "column": 5
                     *         }
                     *       ],
                     *       "lines": [
                     *         {
                     *           "at": "2026-01-31T12:00:00.000Z",
                     *           "level": "info",
                     *           "text": "the bank declined"
                     *         }
                     *       ],
                     *       "code": "module.exports = async ({ args, configuration }) => {\n  …\n};",
                     *       "code_changed": false,
                     *       "webhook": {
                     *         "status": "delivered",
                     *         "attempts": [
                     *           {
                     *             "at": "2026-01-31T12:00:00.000Z",
                     *             "ms": 48,
                     *             "status": 200,
                     *             "outcome": "delivered"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["RunDetails"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getReactorResult: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
                /** @description The id of the request. */
                request_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the result of an async run */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "completed",
                     *       "result": {
                     *         "raw": {
                     *           "approved": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["RunResult"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            410: components["responses"]["data_gone"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listProxyRuns: {
        parameters: {
            query?: {
                /** @description Entries on a page. */
                size?: number;
                /** @description The cursor of the answer before. */
                after?: string;
                /** @description Not accepted before this time. */
                from?: string;
                /** @description Not accepted after this time. */
                to?: string;
                /** @description Only runs with this status. */
                status?: "pending" | "running" | "held" | "completed" | "failed";
                /** @description Only runs of this kind. */
                kind?: "reactor" | "transform";
                /** @description Only runs of this call. */
                trace_id?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the runs of the transforms of a proxy, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "page_size": 20,
                     *         "after": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *           "kind": "reactor",
                     *           "resource_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "application_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "mode": "async",
                     *           "status": "failed",
                     *           "outcome": "reactor_error",
                     *           "http_status": 500,
                     *           "argument_names": [
                     *             "card.number"
                     *           ],
                     *           "token_ids": [
                     *             "2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a"
                     *           ],
                     *           "trace_id": "order-7",
                     *           "attempt": 1,
                     *           "queued_ms": 12,
                     *           "duration_ms": 184,
                     *           "position": {
                     *             "line": 3,
                     *             "column": 9
                     *           },
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "started_at": "2026-01-31T12:00:00.000Z",
                     *           "ended_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getProxyRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
                /** @description The id of the run. */
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a run of a transform with its output */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "kind": "reactor",
                     *       "resource_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "application_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "mode": "async",
                     *       "status": "failed",
                     *       "outcome": "reactor_error",
                     *       "http_status": 500,
                     *       "argument_names": [
                     *         "card.number"
                     *       ],
                     *       "token_ids": [
                     *         "2c9e7b1a-0d34-4f5e-8a6b-1f2e3d4c5b6a"
                     *       ],
                     *       "trace_id": "order-7",
                     *       "attempt": 1,
                     *       "queued_ms": 12,
                     *       "duration_ms": 184,
                     *       "position": {
                     *         "line": 3,
                     *         "column": 9
                     *       },
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "started_at": "2026-01-31T12:00:00.000Z",
                     *       "ended_at": "2026-01-31T12:00:00.000Z",
                     *       "message": "the bank declined: 51",
                     *       "stack": [
                     *         {
                     *           "function": "charge",
                     *           "line": 3,
                     *           "column": 9
                     *         },
                     *         {
                     *           "function": "module.exports",
                     *           "line": 12,
                     *           "column": 5
                     *         }
                     *       ],
                     *       "lines": [
                     *         {
                     *           "at": "2026-01-31T12:00:00.000Z",
                     *           "level": "info",
                     *           "text": "the bank declined"
                     *         }
                     *       ],
                     *       "code": "module.exports = async ({ args, configuration }) => {\n  …\n};",
                     *       "code_changed": false,
                     *       "webhook": {
                     *         "status": "delivered",
                     *         "attempts": [
                     *           {
                     *             "at": "2026-01-31T12:00:00.000Z",
                     *             "ms": 48,
                     *             "status": 200,
                     *             "outcome": "delivered"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["RunDetails"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Entries on a page. */
                size?: number;
                /** @description The cursor of the answer before. */
                after?: string;
                /** @description Not accepted before this time. */
                from?: string;
                /** @description Not accepted after this time. */
                to?: string;
                /** @description Only webhooks with this status. */
                status?: "pending" | "held" | "delivered" | "failed";
                /** @description Only webhooks of this reactor. */
                reactor_id?: string;
                /** @description Only webhooks to this host, without a port. */
                host?: string;
                /** @description Only webhooks of runs of this call. */
                trace_id?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List webhooks, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "page_size": 20,
                     *         "after": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *           "run_id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *           "reactor_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "webhook_id": "msg_019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *           "host": "shop.example",
                     *           "status": "delivered",
                     *           "outcome": "delivered",
                     *           "attempts": [
                     *             {
                     *               "at": "2026-01-31T12:00:00.000Z",
                     *               "ms": 48,
                     *               "status": 200,
                     *               "outcome": "delivered"
                     *             }
                     *           ],
                     *           "replayable": true,
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "ended_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDeliveryPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a webhook with its attempts */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "run_id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "reactor_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "webhook_id": "msg_019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "host": "shop.example",
                     *       "status": "delivered",
                     *       "outcome": "delivered",
                     *       "attempts": [
                     *         {
                     *           "at": "2026-01-31T12:00:00.000Z",
                     *           "ms": 48,
                     *           "status": 200,
                     *           "outcome": "delivered"
                     *         }
                     *       ],
                     *       "replayable": true,
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "ended_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    replayWebhookDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "filter": {
                 *         "status": "failed",
                 *         "host": "shop.example"
                 *       },
                 *       "limit": 100
                 *     }
                 */
                "application/json": components["schemas"]["ReplayDeliveries"];
            };
        };
        responses: {
            /** @description The number that would be sent again: with `dry_run` */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 40
                     *     }
                     */
                    "application/json": components["schemas"]["ReplayCount"];
                };
            };
            /** @description Send ended webhooks again, the newest first */
            202: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "matched": 41,
                     *       "queued": 40,
                     *       "gone": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Replayed"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    replayWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Send a webhook again, with the same `webhook-id` */
            202: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "matched": 41,
                     *       "queued": 40,
                     *       "gone": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Replayed"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    startWebhookListener: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reactor_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10"
                 *     }
                 */
                "application/json": components["schemas"]["StartListener"];
            };
        };
        responses: {
            /** @description Get copies of the webhooks that are made from now on */
            201: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *       "after": "0",
                     *       "lease_seconds": 60
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookListener"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listenToWebhooks: {
        parameters: {
            query?: {
                /** @description The cursor of the answer before. It confirms the copies of that answer. */
                after?: string;
                /** @description How many seconds to wait for a webhook. */
                wait?: number;
                /** @description `none`: renews the lease at once, and gives no copies. For whoever is busy with those of the answer before. */
                copies?: "none";
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Wait for webhooks, and get copies of them */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "after": "1",
                     *       "data": [
                     *         {
                     *           "id": "0f8fad5b-d9cb-469f-a165-70867728950e",
                     *           "webhook_id": "msg_0f8fad5b-d9cb-469f-a165-70867728950e",
                     *           "reactor_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "headers": {
                     *             "content-type": "application/json",
                     *             "webhook-id": "msg_0f8fad5b-d9cb-469f-a165-70867728950e",
                     *             "webhook-timestamp": "1767225600",
                     *             "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
                     *           },
                     *           "body": "{\"raw\":{\"last4\":\"4242\"}}"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookCopies"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    endWebhookListener: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End a listener to webhooks */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getTenant: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the tenant of the caller */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "name": "Shop",
                     *       "settings": {},
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Tenant"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    updateTenant: {
        parameters: {
            query?: never;
            header?: {
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Shop",
                 *       "settings": {
                 *         "enable_ephemeral_proxy": "true"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["UpdateTenant"];
            };
        };
        responses: {
            /** @description Replace name and settings of the tenant */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "name": "Shop",
                     *       "settings": {},
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Tenant"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["conflict"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    deleteTenant: {
        parameters: {
            query?: {
                /** @description The name of the tenant. */
                name?: string;
            };
            header?: {
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete the tenant and everything in it */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the secret that signs webhooks */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookSecret"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getForwardCa: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get the certificate authority that clients of forward mode must trust */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "certificates": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n"
                     *     }
                     */
                    "application/json": components["schemas"]["ForwardCa"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["conflict"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    rotateForwardCa: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Create a new certificate authority. The one before it signs for 30 more days */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "certificates": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n"
                     *     }
                     */
                    "application/json": components["schemas"]["ForwardCa"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["conflict.request_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Tags of versions, or `*`. Nothing is changed unless the resource is in one of these versions. */
                "If-Match"?: components["parameters"]["ifMatch"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Create a new secret. For 24 hours, the old one signs as well */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookSecret"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["request_in_progress"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listLogs: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1. */
                page?: number;
                /** @description Entries on a page. */
                size?: number;
                /** @description The `after` of the page before, in place of `page`. */
                after?: string;
                /** @description Only lines about this kind of entity. */
                entity_type?: string;
                /** @description Only lines about this entity. */
                entity_id?: string;
                /** @description Only lines of this operation. */
                operation?: string;
                /** @description Only lines of this call. */
                trace_id?: string;
                /** @description Not before this time. */
                start_date?: string;
                /** @description Not after this time. */
                end_date?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the audit log, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "total_items": 41,
                     *         "page_number": 1,
                     *         "page_size": 20,
                     *         "total_pages": 3,
                     *         "after": "MTc5MzU1MzQ2NzAwMC4yMC42ZjBkNmQzYS01YzBiLTRiM2UtOWQwYy0wYTRjMWUxZjdhMTA"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "4711",
                     *           "actor_id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "actor": {
                     *             "type": "application",
                     *             "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *             "name": "management"
                     *           },
                     *           "operation": "proxy.create",
                     *           "entity_type": "proxy",
                     *           "entity_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "outcome": "success",
                     *           "trace_id": "order-7",
                     *           "created_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["LogPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description Entries on a page. */
                size?: number;
                /** @description The cursor of the answer before. */
                after?: string;
                /** @description Not opened before this time. */
                from?: string;
                /** @description Not opened after this time. */
                to?: string;
                /** @description Only sessions of this person. */
                person_id?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the sessions of the console, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "page_size": 20
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "019b7a3e-52c0-7c1a-9f3b-2d4e5f607182",
                     *           "person": {
                     *             "id": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *             "name": "operator",
                     *             "role": "admin",
                     *             "issuer": "link",
                     *             "subject": "operator"
                     *           },
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "seen_at": "2026-01-31T12:07:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End a session of the console */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    endSessionsOfPerson: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End all sessions of a person, and sign-ins that are under way */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1. */
                page?: number;
                /** @description Entries on a page. */
                size?: number;
                /** @description The `after` of the page before, in place of `page`. */
                after?: string;
                /** @description Only tokens with this id. Repeat it for several. */
                id?: string[];
                /** @description Only tokens of this type. Repeat it for several. */
                type?: ("token" | "card" | "bank" | "card_number" | "us_bank_account_number" | "us_bank_routing_number" | "social_security_number" | "employer_id_number")[];
                /** @description Only tokens whose metadata has this value under NAME. */
                "metadata.NAME"?: string;
            };
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List the tokens that a permission or rule covers, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "total_items": 41,
                     *         "page_number": 1,
                     *         "page_size": 20,
                     *         "total_pages": 3,
                     *         "after": "MTc5MzU1MzQ2NzAwMC4yMC42ZjBkNmQzYS01YzBiLTRiM2UtOWQwYy0wYTRjMWUxZjdhMTA"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *           "type": "card",
                     *           "data": {
                     *             "number": "XXXXXXXXXXXX4242",
                     *             "expiration_month": 12,
                     *             "expiration_year": 2030
                     *           },
                     *           "containers": [
                     *             "/pci/high/"
                     *           ],
                     *           "fingerprint": "nV1hTz0lq0m3J8Y2n7fX5q0r2y8kq9m4H1s6Zc3dWfA",
                     *           "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "modified_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["TokenPage"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            413: components["responses"]["payload_too_large"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "card",
                 *       "data": {
                 *         "number": "4242424242424242",
                 *         "expiration_month": 12,
                 *         "expiration_year": 2030
                 *       },
                 *       "metadata": {
                 *         "order": "7"
                 *       },
                 *       "search_indexes": [
                 *         "{{ data.number | last4 }}"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateToken"];
            };
        };
        responses: {
            /** @description A token with the same fingerprint exists */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "type": "card",
                     *       "data": {
                     *         "number": "XXXXXXXXXXXX4242",
                     *         "expiration_month": 12,
                     *         "expiration_year": 2030
                     *       },
                     *       "containers": [
                     *         "/pci/high/"
                     *       ],
                     *       "fingerprint": "nV1hTz0lq0m3J8Y2n7fX5q0r2y8kq9m4H1s6Zc3dWfA",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Token"];
                };
            };
            /** @description Create a token */
            201: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "type": "card",
                     *       "data": {
                     *         "number": "XXXXXXXXXXXX4242",
                     *         "expiration_month": 12,
                     *         "expiration_year": 2030
                     *       },
                     *       "containers": [
                     *         "/pci/high/"
                     *       ],
                     *       "fingerprint": "nV1hTz0lq0m3J8Y2n7fX5q0r2y8kq9m4H1s6Zc3dWfA",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedToken"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["conflict.request_in_progress"];
            410: components["responses"]["data_gone"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    searchTokens: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "query": "data:4242 AND (type:card OR container:/pci/*)",
                 *       "page": 1,
                 *       "size": 20
                 *     }
                 */
                "application/json": components["schemas"]["SearchTokens"];
            };
        };
        responses: {
            /** @description Search the tokens that a permission or rule covers, the newest first */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pagination": {
                     *         "total_items": 41,
                     *         "page_number": 1,
                     *         "page_size": 20,
                     *         "total_pages": 3,
                     *         "after": "MTc5MzU1MzQ2NzAwMC4yMC42ZjBkNmQzYS01YzBiLTRiM2UtOWQwYy0wYTRjMWUxZjdhMTA"
                     *       },
                     *       "data": [
                     *         {
                     *           "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *           "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *           "type": "card",
                     *           "data": {
                     *             "number": "XXXXXXXXXXXX4242",
                     *             "expiration_month": 12,
                     *             "expiration_year": 2030
                     *           },
                     *           "containers": [
                     *             "/pci/high/"
                     *           ],
                     *           "fingerprint": "nV1hTz0lq0m3J8Y2n7fX5q0r2y8kq9m4H1s6Zc3dWfA",
                     *           "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *           "modified_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["TokenPage"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["request_in_progress"];
            410: components["responses"]["data_gone"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    getToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a token */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "type": "card",
                     *       "data": {
                     *         "number": "XXXXXXXXXXXX4242",
                     *         "expiration_month": 12,
                     *         "expiration_year": 2030
                     *       },
                     *       "containers": [
                     *         "/pci/high/"
                     *       ],
                     *       "fingerprint": "nV1hTz0lq0m3J8Y2n7fX5q0r2y8kq9m4H1s6Zc3dWfA",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Token"];
                };
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    deleteToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a token */
            204: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request.loop_detected"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    patchToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "metadata": {
                 *         "order": null,
                 *         "customer": "12"
                 *       },
                 *       "expires_at": "2030-01-31T12:00:00Z"
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["TokenChangePatch"];
            };
        };
        responses: {
            /** @description Change members of a token */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *       "type": "card",
                     *       "data": {
                     *         "number": "XXXXXXXXXXXX4242",
                     *         "expiration_month": 12,
                     *         "expiration_year": 2030
                     *       },
                     *       "containers": [
                     *         "/pci/high/"
                     *       ],
                     *       "fingerprint": "nV1hTz0lq0m3J8Y2n7fX5q0r2y8kq9m4H1s6Zc3dWfA",
                     *       "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "modified_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "modified_at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Token"];
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["destination_not_allowed.permission_denied"];
            404: components["responses"]["not_found"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    tokenize: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Ada",
                 *       "card": {
                 *         "type": "card",
                 *         "data": {
                 *           "number": "4242424242424242"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Create tokens from a document, all or none */
            201: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *       "card": {
                     *         "id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *         "tenant_id": "0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e",
                     *         "type": "card",
                     *         "data": {
                     *           "number": "XXXXXXXXXXXX4242",
                     *           "expiration_month": 12,
                     *           "expiration_year": 2030
                     *         },
                     *         "containers": [
                     *           "/pci/high/"
                     *         ],
                     *         "fingerprint": "nV1hTz0lq0m3J8Y2n7fX5q0r2y8kq9m4H1s6Zc3dWfA",
                     *         "created_by": "c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11",
                     *         "created_at": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": unknown;
                };
            };
            400: components["responses"]["invalid_json.invalid_request.loop_detected.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["conflict.request_in_progress"];
            410: components["responses"]["data_gone"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    detokenize: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "to": "{{ name }}",
                 *       "last4": "{{ card | json: \"$.number\" | last4 }}"
                 *     }
                 */
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Replace the expressions of a document, all or none */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "to": "Ada",
                     *       "last4": "4242"
                     *     }
                     */
                    "application/json": unknown;
                };
            };
            400: components["responses"]["invalid_expression.invalid_json.invalid_request.loop_detected.unknown_token.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["permission_denied"];
            409: components["responses"]["request_in_progress"];
            410: components["responses"]["data_gone"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["newer_definition.service_unavailable"];
        };
    };
    invokeReactor: {
        parameters: {
            query?: never;
            header?: {
                /** @description A call with a key and body that were sent before is not executed again. */
                "SVC-IDEMPOTENCY-KEY"?: components["parameters"]["idempotencyKey"];
                /** @description Whether members of the body that nothing reads are refused. */
                "SVC-STRICT"?: components["parameters"]["strict"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /** @description The id. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "args": {
                 *         "card": {
                 *           "number": "{{ 6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10 }}"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Invocation"];
            };
        };
        responses: {
            /** @description The result of the code. */
            200: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "raw": {
                     *         "approved": true
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ReactorResponse"];
                };
            };
            /** @description Accepted. The run is queued. */
            202: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "async_request_id": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10",
                     *       "asyncReactorRequestId": "6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10"
                     *     }
                     */
                    "application/json": components["schemas"]["AsyncRequest"];
                };
            };
            400: components["responses"]["invalid_expression.invalid_json.invalid_request.loop_detected.unknown_token.validation_failed"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["destination_not_allowed.permission_denied"];
            404: components["responses"]["not_found"];
            409: components["responses"]["application_gone.changed_meanwhile.request_in_progress"];
            410: components["responses"]["data_gone"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["idempotency_key_reused.invalid_code"];
            429: components["responses"]["rate_limited.share_exhausted"];
            500: components["responses"]["internal_error.invalid_reactor_result.reactor_crashed.reactor_error.run_interrupted"];
            503: components["responses"]["newer_definition.no_capacity.service_unavailable"];
            504: components["responses"]["reactor_timeout"];
            /** @description An error that the code threw, with its own status. */
            default: {
                headers: {
                    "SVC-TRACE-ID": components["headers"]["SVC-TRACE-ID"];
                    "SVC-IDEMPOTENT-REPLAY": components["headers"]["SVC-IDEMPOTENT-REPLAY"];
                    "SVC-UNKNOWN-MEMBERS": components["headers"]["SVC-UNKNOWN-MEMBERS"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getProxyCall: {
        parameters: {
            query?: {
                /** @description The key of the proxy, for callers that cannot set headers. */
                "svc-proxy-key"?: components["parameters"]["proxyKeyInQuery"];
            };
            header?: {
                /** @description The key of the proxy. It may be in the query instead. */
                "SVC-PROXY-KEY"?: components["parameters"]["proxyKey"];
                /** @description A destination in place of a proxy, for tenants that have set `enable_ephemeral_proxy`. */
                "SVC-PROXY-URL"?: components["parameters"]["proxyUrl"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            default: components["responses"]["ProxyAnswer"];
        };
    };
    putProxyCall: {
        parameters: {
            query?: {
                /** @description The key of the proxy, for callers that cannot set headers. */
                "svc-proxy-key"?: components["parameters"]["proxyKeyInQuery"];
            };
            header?: {
                /** @description The key of the proxy. It may be in the query instead. */
                "SVC-PROXY-KEY"?: components["parameters"]["proxyKey"];
                /** @description A destination in place of a proxy, for tenants that have set `enable_ephemeral_proxy`. */
                "SVC-PROXY-URL"?: components["parameters"]["proxyUrl"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "amount": 1200,
                 *       "card": "{{ 6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10 }}"
                 *     }
                 */
                "application/json": unknown;
                "*/*": unknown;
            };
        };
        responses: {
            default: components["responses"]["ProxyAnswer"];
        };
    };
    postProxyCall: {
        parameters: {
            query?: {
                /** @description The key of the proxy, for callers that cannot set headers. */
                "svc-proxy-key"?: components["parameters"]["proxyKeyInQuery"];
            };
            header?: {
                /** @description The key of the proxy. It may be in the query instead. */
                "SVC-PROXY-KEY"?: components["parameters"]["proxyKey"];
                /** @description A destination in place of a proxy, for tenants that have set `enable_ephemeral_proxy`. */
                "SVC-PROXY-URL"?: components["parameters"]["proxyUrl"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "amount": 1200,
                 *       "card": "{{ 6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10 }}"
                 *     }
                 */
                "application/json": unknown;
                "*/*": unknown;
            };
        };
        responses: {
            default: components["responses"]["ProxyAnswer"];
        };
    };
    deleteProxyCall: {
        parameters: {
            query?: {
                /** @description The key of the proxy, for callers that cannot set headers. */
                "svc-proxy-key"?: components["parameters"]["proxyKeyInQuery"];
            };
            header?: {
                /** @description The key of the proxy. It may be in the query instead. */
                "SVC-PROXY-KEY"?: components["parameters"]["proxyKey"];
                /** @description A destination in place of a proxy, for tenants that have set `enable_ephemeral_proxy`. */
                "SVC-PROXY-URL"?: components["parameters"]["proxyUrl"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            default: components["responses"]["ProxyAnswer"];
        };
    };
    patchProxyCall: {
        parameters: {
            query?: {
                /** @description The key of the proxy, for callers that cannot set headers. */
                "svc-proxy-key"?: components["parameters"]["proxyKeyInQuery"];
            };
            header?: {
                /** @description The key of the proxy. It may be in the query instead. */
                "SVC-PROXY-KEY"?: components["parameters"]["proxyKey"];
                /** @description A destination in place of a proxy, for tenants that have set `enable_ephemeral_proxy`. */
                "SVC-PROXY-URL"?: components["parameters"]["proxyUrl"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "amount": 1200,
                 *       "card": "{{ 6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10 }}"
                 *     }
                 */
                "application/json": unknown;
                "*/*": unknown;
            };
        };
        responses: {
            default: components["responses"]["ProxyAnswer"];
        };
    };
    getProxyPathCall: {
        parameters: {
            query?: {
                /** @description The key of the proxy, for callers that cannot set headers. */
                "svc-proxy-key"?: components["parameters"]["proxyKeyInQuery"];
            };
            header?: {
                /** @description The key of the proxy. It may be in the query instead. */
                "SVC-PROXY-KEY"?: components["parameters"]["proxyKey"];
                /** @description A destination in place of a proxy, for tenants that have set `enable_ephemeral_proxy`. */
                "SVC-PROXY-URL"?: components["parameters"]["proxyUrl"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /**
                 * @description Any path, slashes included. It is appended to the destination.
                 * @example v1/charges
                 */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            default: components["responses"]["ProxyAnswer"];
        };
    };
    putProxyPathCall: {
        parameters: {
            query?: {
                /** @description The key of the proxy, for callers that cannot set headers. */
                "svc-proxy-key"?: components["parameters"]["proxyKeyInQuery"];
            };
            header?: {
                /** @description The key of the proxy. It may be in the query instead. */
                "SVC-PROXY-KEY"?: components["parameters"]["proxyKey"];
                /** @description A destination in place of a proxy, for tenants that have set `enable_ephemeral_proxy`. */
                "SVC-PROXY-URL"?: components["parameters"]["proxyUrl"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /**
                 * @description Any path, slashes included. It is appended to the destination.
                 * @example v1/charges
                 */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "amount": 1200,
                 *       "card": "{{ 6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10 }}"
                 *     }
                 */
                "application/json": unknown;
                "*/*": unknown;
            };
        };
        responses: {
            default: components["responses"]["ProxyAnswer"];
        };
    };
    postProxyPathCall: {
        parameters: {
            query?: {
                /** @description The key of the proxy, for callers that cannot set headers. */
                "svc-proxy-key"?: components["parameters"]["proxyKeyInQuery"];
            };
            header?: {
                /** @description The key of the proxy. It may be in the query instead. */
                "SVC-PROXY-KEY"?: components["parameters"]["proxyKey"];
                /** @description A destination in place of a proxy, for tenants that have set `enable_ephemeral_proxy`. */
                "SVC-PROXY-URL"?: components["parameters"]["proxyUrl"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /**
                 * @description Any path, slashes included. It is appended to the destination.
                 * @example v1/charges
                 */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "amount": 1200,
                 *       "card": "{{ 6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10 }}"
                 *     }
                 */
                "application/json": unknown;
                "*/*": unknown;
            };
        };
        responses: {
            default: components["responses"]["ProxyAnswer"];
        };
    };
    deleteProxyPathCall: {
        parameters: {
            query?: {
                /** @description The key of the proxy, for callers that cannot set headers. */
                "svc-proxy-key"?: components["parameters"]["proxyKeyInQuery"];
            };
            header?: {
                /** @description The key of the proxy. It may be in the query instead. */
                "SVC-PROXY-KEY"?: components["parameters"]["proxyKey"];
                /** @description A destination in place of a proxy, for tenants that have set `enable_ephemeral_proxy`. */
                "SVC-PROXY-URL"?: components["parameters"]["proxyUrl"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /**
                 * @description Any path, slashes included. It is appended to the destination.
                 * @example v1/charges
                 */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            default: components["responses"]["ProxyAnswer"];
        };
    };
    patchProxyPathCall: {
        parameters: {
            query?: {
                /** @description The key of the proxy, for callers that cannot set headers. */
                "svc-proxy-key"?: components["parameters"]["proxyKeyInQuery"];
            };
            header?: {
                /** @description The key of the proxy. It may be in the query instead. */
                "SVC-PROXY-KEY"?: components["parameters"]["proxyKey"];
                /** @description A destination in place of a proxy, for tenants that have set `enable_ephemeral_proxy`. */
                "SVC-PROXY-URL"?: components["parameters"]["proxyUrl"];
                /** @description Returned in the answer and written to the log. */
                "SVC-TRACE-ID"?: components["parameters"]["traceId"];
            };
            path: {
                /**
                 * @description Any path, slashes included. It is appended to the destination.
                 * @example v1/charges
                 */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "amount": 1200,
                 *       "card": "{{ 6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10 }}"
                 *     }
                 */
                "application/json": unknown;
                "*/*": unknown;
            };
        };
        responses: {
            default: components["responses"]["ProxyAnswer"];
        };
    };
}

export const problemCodes = [
  "validation_failed",
  "invalid_json",
  "invalid_request",
  "loop_detected",
  "proxy_key_missing",
  "invalid_expression",
  "unknown_token",
  "invalid_api_key",
  "permission_denied",
  "destination_not_allowed",
  "not_found",
  "method_not_allowed",
  "conflict",
  "deployment_conflict",
  "request_in_progress",
  "changed_meanwhile",
  "application_gone",
  "data_gone",
  "precondition_failed",
  "payload_too_large",
  "unsupported_media_type",
  "invalid_code",
  "idempotency_key_reused",
  "rate_limited",
  "share_exhausted",
  "internal_error",
  "reactor_error",
  "invalid_reactor_result",
  "reactor_crashed",
  "run_interrupted",
  "destination_unreachable",
  "destination_answer_invalid",
  "destination_busy",
  "no_capacity",
  "newer_definition",
  "service_unavailable",
  "reactor_timeout",
  "destination_timeout"
] as const;
