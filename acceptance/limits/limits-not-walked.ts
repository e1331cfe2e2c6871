/** Limits that another spec crosses, named by the title of its test. */
export const crossedElsewhere: readonly {
  readonly spec: string;
  readonly title: string;
  readonly limits: readonly string[];
}[] = [
  {
    spec: 'apps/gateway/src/proxy/scrub/scrub.spec.ts',
    title: 'to 300 texts and 64 KiB of a call',
    limits: ['put-in.textsMax', 'put-in.textBytesMax'],
  },
  {
    spec: 'apps/gateway/src/proxy/scrub/scrub.spec.ts',
    title: 'is not looked for where it is shorter than 4 bytes',
    limits: ['put-in.textBytesMin', 'put-in.numberLengthMin'],
  },
  {
    spec: 'apps/gateway/src/proxy/scrub/scrub.spec.ts',
    title: 'the expression in its place',
    limits: ['put-in.shownMax'],
  },
  {
    spec: 'apps/gateway/src/proxy/scrub/scrub.spec.ts',
    title: 'ends for an answer of a million beginnings',
    limits: ['search.missesFree'],
  },
  {
    spec: 'apps/gateway/src/proxy/scrub/scrubbed-calls.spec.ts',
    title: 'gives a short answer its new length, and a long one none',
    limits: ['scrubbed-answer.heldBytesMax'],
  },
  {
    spec: 'apps/gateway/src/proxy/scrub/scrubbed-calls.spec.ts',
    title: 'of a caller, and sends nothing',
    limits: ['whole-values.addedBytesMax'],
  },
  {
    spec: 'apps/runner/src/run/first-bytes.spec.ts',
    title: 'are unreadable where they promise more than is read',
    limits: ['first-bytes.helloBytesMax', 'first-bytes.helloRecordsMax'],
  },
  {
    spec: 'apps/runner/src/run/egress-connections.spec.ts',
    title: 'half of a ClientHello never leaves a narrowed run, whose connection is reset after 5 s',
    limits: ['egress-connections.helloTimeoutMs'],
  },
  {
    spec: 'apps/gateway/src/connection/caller-connection.spec.ts',
    title: 'does not end its headers',
    limits: ['HEADERS_TIMEOUT_MS'],
  },
  {
    spec: 'apps/gateway/src/connection/caller-connection.spec.ts',
    title: 'gets 408 when it does not end a body that is read whole',
    limits: ['REQUEST_TIMEOUT_MS'],
  },
  {
    spec: 'libs/vault/src/destinations.spec.ts',
    title: 'a reach is bounded, whatever the lists are',
    limits: ['reach.reachMax'],
  },
  {
    spec: 'apps/runner/src/run/host-reach.spec.ts',
    title: 'remember 1,000 addresses of names at most',
    limits: ['host-reach.addressesMax'],
  },
  {
    spec: 'apps/gateway/src/proxy/uploads.spec.ts',
    title: 'gets 408 when it stands still, however long it has moved before',
    limits: ['BODY_IDLE_MS'],
  },
  {
    spec: 'apps/gateway/src/forward/unmatched.spec.ts',
    title: 'a tenant gets half of the tunnels',
    limits: ['FORWARD_TUNNELS_MAX'],
  },
  {
    spec: 'apps/gateway/src/forward/unmatched.spec.ts',
    title: 'and when nothing moves in it',
    limits: ['FORWARD_IDLE_MS'],
  },
  {
    spec: 'apps/gateway/src/forward/leaves.spec.ts',
    title: 'pushes out its own certificates',
    limits: ['FORWARD_CERTIFICATES_MAX'],
  },
  {
    spec: 'apps/gateway/src/forward/leaves.spec.ts',
    title: 'leave turns to its neighbour',
    limits: ['leaves.makingsMax'],
  },
  {
    spec: 'apps/management-api/src/proxies/proxy-match.spec.ts',
    title: 'has at most 400 combinations',
    limits: ['resource-limits.matchKeysMax'],
  },
  {
    spec: 'apps/gateway/src/under-load.spec.ts',
    title: 'of one key and of one tenant %s are bounded, while the neighbour calls on',
    limits: ['CALLS_MAX', 'CALLS_PER_KEY_MAX'],
  },
  {
    spec: 'apps/gateway/src/under-load.spec.ts',
    title: 'of one tenant take half of the memory, the next one is refused',
    limits: ['BUFFERED_BYTES_MAX'],
  },
  {
    spec: 'apps/gateway/src/call/rates/call-rates.spec.ts',
    title: 'is answered with 429 and Retry-After above its limit, under proxy_error',
    limits: ['CALL_RATE_PER_MINUTE'],
  },
  {
    spec: 'apps/gateway/src/call/rates/call-rates.spec.ts',
    title: 'is one for each address and proxy, as the trusted hop tells it',
    limits: ['ANONYMOUS_CALL_RATE_PER_MINUTE'],
  },
  {
    spec: 'libs/calls/src/call-log.spec.ts',
    title: '50 completed and 200 failed calls of a second have rows',
    limits: ['call-log.failedCallsPerSecond', 'call-log.otherCallsPerSecond'],
  },
  {
    spec: 'libs/calls/src/call-log.spec.ts',
    title: 'a tenant with a thousand causes in a second gets a hundred rows for them',
    limits: ['call-log.groupsMax'],
  },
  {
    spec: 'libs/calls/src/call-log.spec.ts',
    title: 'more tokens than a row takes are stored all the same',
    limits: ['call-row.callTokensMax'],
  },
  {
    spec: 'apps/management-api/src/captures/captures.spec.ts',
    title: 'refuses %j minutes',
    limits: ['captures.dto.captureMinutesMax'],
  },
  {
    spec: 'apps/management-api/src/captures/captures.spec.ts',
    title: 'is gone after a day, and with its proxy',
    limits: ['keep-capture.captureHours'],
  },
  {
    spec: 'apps/management-api/src/captures/captures.spec.ts',
    title: 'of a tenant is at most 100 calls of 10 MiB',
    limits: ['keep-capture.capturesMax', 'keep-capture.captureBytesMax'],
  },
  {
    spec: 'apps/gateway/src/capture/captures.spec.ts',
    title: '10,000 calls leave as many captures as a second allows, and fail none',
    limits: ['captures.capturesAtOnce', 'captures.capturesPerSecond'],
  },
  {
    spec: 'apps/gateway/src/capture/captures.spec.ts',
    title: 'of a long body the beginning is kept, and a message has at most 64 KiB',
    limits: ['kept-body.keptBytesMax', 'captured-messages.messageBytesMax'],
  },
  {
    spec: 'apps/management-api/src/calls/calls.spec.ts',
    title: 'leaves out the oldest minutes where there is more than an answer shows',
    limits: ['calls.service.summaryEntriesMax'],
  },
  {
    spec: 'apps/management-api/src/overview/overview.spec.ts',
    title: 'are all in the totals, although it shows the 100 worst resources alone',
    limits: ['overview.dto.overviewResourcesMax'],
  },
  {
    spec: 'apps/management-api/src/calls/calls.spec.ts',
    title: 'refuses ?%s',
    limits: ['calls.dto.summaryHoursMax'],
  },
  {
    spec: 'libs/rates/src/backlogs.spec.ts',
    title: 'a caller may make the calls of a minute at once',
    limits: ['backlogs.windowMs'],
  },
  {
    spec: 'libs/rates/src/backlogs.spec.ts',
    title: 'a million callers take the room of a bounded number',
    limits: ['rate-limit.callersRememberedMax'],
  },
  {
    spec: 'apps/management-api/src/http/rate-limit.spec.ts',
    title: 'a key that has used up its minute gets 429',
    limits: ['RATE_LIMIT_PER_MINUTE'],
  },
  {
    spec: 'apps/management-api/src/shares/body-room.spec.ts',
    title: 'take at most half of their memory for one tenant',
    limits: ['body-room.bufferedBytesMax'],
  },
  {
    spec: 'apps/management-api/src/changes/definition-sizes.spec.ts',
    title: 'a tenant cannot exceed its number of definitions',
    limits: ['DEFINITIONS_PER_TENANT'],
  },
  {
    spec: 'apps/management-api/src/changes/definition-sizes.spec.ts',
    title: 'the definitions of a tenant cannot exceed their bytes',
    limits: ['DEFINITION_BYTES_PER_TENANT'],
  },
  {
    spec: 'apps/management-api/src/changes/definition-sizes.spec.ts',
    title: 'an application cannot have more than 100 keys',
    limits: ['application-keys.service.applicationKeysMax'],
  },
  {
    spec: 'libs/vault/src/openings/opening-budget.spec.ts',
    title: 'opens at most 10 MiB of tokens in all',
    limits: ['opening-budget.openedBytesMax'],
  },
  {
    spec: 'libs/vault/src/openings/opening-budget.spec.ts',
    title: 'opens tokens of at most 200,000 values in all',
    limits: ['opening-budget.openedValuesMax'],
  },
  {
    spec: 'libs/expressions/src/expressions.spec.ts',
    title: '100 tokens pass, 101 do not',
    limits: ['limits.tokensMax'],
  },
  {
    spec: 'libs/expressions/src/expressions.spec.ts',
    title: 'an expansion above 10 MiB is refused before it is made',
    limits: ['limits.expandedBytesMax'],
  },
  {
    spec: 'libs/expressions/src/filters/filters.spec.ts',
    title: 'cannot make a text out of proportion',
    limits: ['limits.textLengthMax', 'limits.filteredCharactersMax'],
  },
  {
    spec: 'apps/gateway/src/destinations/destinations.spec.ts',
    title: 'answers 503 destination_busy at once until a call ends',
    limits: ['DESTINATION_CALLS_MAX'],
  },
  {
    spec: 'apps/gateway/src/destinations/destination-shares.spec.ts',
    title: 'gets 429 above its share of destinations',
    limits: ['DESTINATIONS_MAX'],
  },
  {
    spec: 'apps/gateway/src/destinations/destination-shares.spec.ts',
    title: 'gets 429 above its share of connections',
    limits: ['DESTINATION_CONNECTIONS_MAX'],
  },
  {
    spec: 'apps/gateway/src/destinations/destination-shares.spec.ts',
    title: 'gets 429 above its share of look-ups',
    limits: ['EGRESS_LOOKUPS_MAX'],
  },
  {
    spec: 'apps/gateway/src/react/run-once.spec.ts',
    title: 'is not run again where its answer was too large to be kept',
    limits: ['run-once.outcomeBytesMax'],
  },
  {
    spec: 'apps/gateway/src/react/run-once.spec.ts',
    title: 'is refused before it begins when its tenant keeps as much as it may',
    limits: ['OUTCOME_BYTES_PER_TENANT'],
  },
  {
    spec: 'libs/reactors/src/invoke-reactor.spec.ts',
    title: 'returns more than a mebibyte',
    limits: ['invoke-reactor.resultBytesMax'],
  },
  {
    spec: 'apps/runner/src/frames-that-kill.spec.ts',
    title: 'a result or an error of too many members is no result',
    limits: ['call-limits.resultMembersMax'],
  },
  {
    spec: 'apps/gateway/src/store-shares.spec.ts',
    title: 'async runs are accepted as long as few runs and webhooks of the tenant wait',
    limits: ['RUNS_PENDING_MAX'],
  },
  {
    spec: 'apps/gateway/src/store-shares.spec.ts',
    title: 'are refused with 429 to a tenant that has 200 statements waiting already',
    limits: ['DATABASE_CONNECTIONS', 'database.connectionsWaitingMax'],
  },
  {
    spec: 'libs/vault/src/statements/token-uses.spec.ts',
    title: 'wait in bounded number and time while Postgres stands still',
    limits: ['token-uses.usesMax', 'token-uses.useWaitMs'],
  },
  {
    spec: 'acceptance/faults/slow-bodies.faults.ts',
    title: 'from the caller ends with 408 after 30 s, and nothing is forwarded',
    limits: ['content.transformedWithinMs'],
  },
  {
    spec: 'apps/gateway/src/proxy/transforms/steps.spec.ts',
    title: 'more than 1,000 tokens of several steps',
    limits: ['token-placeholders.stepTokensMax'],
  },
  {
    spec: 'apps/management-api/src/lists/unread-pages.spec.ts',
    title: 'takes at most 2 MiB for each, 8 MiB for their tenant and no connection to Postgres',
    limits: ['page-shares.requestPageBytesMax', 'page-shares.tenantPageBytesMax'],
  },
  {
    spec: 'apps/management-api/src/lists/unread-pages.spec.ts',
    title: 'reads nothing loses its connection, and leaves its share to the next one',
    limits: ['ANSWER_IDLE_MS'],
  },
  {
    spec: 'apps/management-api/src/tokens/many-tokens.spec.ts',
    title: 'from 10,001 of them',
    limits: ['pages.countedMax'],
  },
  {
    spec: 'libs/database/src/places.spec.ts',
    title: 'and reads 50,000 before it at most',
    limits: ['places.strideEntries'],
  },
  {
    spec: 'libs/database/src/places.spec.ts',
    title: 'keeps the places of a list for a minute, and those of four lists of a tenant',
    limits: ['places.placesKeptMs', 'places.tenantPlacedListsMax'],
  },
  {
    spec: 'libs/database/src/places.spec.ts',
    title: 'gives up a walk after 10 s',
    limits: ['places.walkMs'],
  },
  {
    spec: 'libs/vault/src/sights/sights.spec.ts',
    title: 'hold the ids of 1,000 tokens, and of those beyond them the containers',
    limits: ['sights.rememberedMax'],
  },
  {
    spec: 'apps/gateway/src/dry-runs/reactors.spec.ts',
    title: 'of a tenant are two at once, which hold up no other tenant',
    limits: ['call-shares.dryRunsOfTenantMax', 'DRY_RUNS_MAX'],
  },
  {
    spec: 'apps/gateway/src/dry-runs/proxies.spec.ts',
    title: 'a body beyond what is shown is cut, and says how long it is',
    limits: ['rehearse-proxy.shownBodyMax'],
  },
  {
    spec: 'apps/management-api/src/dry-runs/dry-runs.spec.ts',
    title: 'takes arguments up to 1 MiB',
    limits: ['dry-runs.service.argumentBytesMax', 'dry-runs.controller.reactorBytesMax'],
  },
  {
    spec: 'apps/management-api/src/dry-runs/dry-runs.spec.ts',
    title: 'with %s is refused',
    limits: [
      ...['dry-runs.dto.bodyMax', 'dry-runs.dto.headerLinesMax', 'dry-runs.dto.headerBytesMax'],
      'dry-runs.controller.proxyBytesMax',
    ],
  },
  {
    spec: 'apps/worker/src/kept-arguments.spec.ts',
    title: 'arguments of a run that did not fail are not kept, nor any for 0 hours',
    limits: ['RUN_ARGUMENTS_KEPT'],
  },
  {
    spec: 'apps/worker/src/kept-arguments.spec.ts',
    title: 'of many failed runs of a tenant the newest are kept',
    limits: ['RUN_ARGUMENTS_PER_TENANT'],
  },
  {
    spec: 'apps/management-api/src/runs/code-of-run.spec.ts',
    title: 'is bounded for each tenant in number and in bytes: the oldest goes first',
    limits: ['code-texts.codeTextsMax', 'code-texts.codeTextBytesMax'],
  },
  {
    spec: 'apps/management-api/src/code/bundles.spec.ts',
    title: 'above 1 MiB is 413, and of exactly 1 MiB is taken',
    limits: ['code-members.bundleMax', 'bundles.controller.codeBodyBytesMax'],
  },
  {
    spec: 'apps/management-api/src/code/bundles.spec.ts',
    title: 'is kept beside its text, and is 404 without one and 413 above 2 MiB',
    limits: ['bundles.service.mapBytesMax', 'bundles.controller.mapBodyBytesMax'],
  },
  {
    spec: 'apps/management-api/src/code/bundles.spec.ts',
    title: 'is refused beyond the room of texts that nothing names, of this tenant alone',
    limits: ['bundles.service.unusedTextsMax'],
  },
  {
    spec: 'apps/management-api/src/code/bundles.spec.ts',
    title: 'is refused beyond the bytes that a tenant has, waiting and in all',
    limits: ['bundles.service.unusedBytesMax', 'bundles.service.uploadedBytesMax'],
  },
  {
    spec: 'libs/reactors/src/bundles.spec.ts',
    title: 'texts are kept up to 64 MiB, and one tenant has at most half of them',
    limits: ['bundles.keptBytesMax'],
  },
  {
    spec: 'apps/management-api/src/code/source-places.spec.ts',
    title: 'a source whose name is too long, or that is no text, is none',
    limits: ['source-places.sourceMax'],
  },
  {
    spec: 'apps/management-api/src/code/source-places.spec.ts',
    title: 'a map that takes longer than 50 ms is as none, and is left in the middle',
    limits: ['source-places.budgetMs'],
  },
  {
    spec: 'apps/management-api/src/code/source-places.spec.ts',
    title: 'a map with more than %s is as none',
    limits: ['source-places.sourcesMax', 'source-places.membersMax', 'source-places.valuesMax'],
  },
  {
    spec: 'apps/management-api/src/deployments/deployments.spec.ts',
    title: 'is bounded in items, bytes and message',
    limits: [
      ...['deployments.dto.deploymentItemsMax', 'deployments.dto.messageMax'],
      ...['deployments.dto.etagMax', 'deployments.controller.deploymentBytesMax'],
    ],
  },
  {
    spec: 'apps/management-api/src/deployments/deployments.spec.ts',
    title: 'are the newest 50, and hold configuration values sealed',
    limits: ['deployed-set.deploymentsMax'],
  },
  {
    spec: 'apps/management-api/src/deployments/deployments.spec.ts',
    title: 'are bounded in bytes: the oldest go, and the newest two stay',
    limits: ['deployed-set.deploymentsBytesMax'],
  },
  {
    spec: 'apps/management-api/src/deployments/deployments.spec.ts',
    title: 'are 40 beyond the bytes of a tenant, those of the projects that deployed last',
    limits: ['deployed-set.lastOfProjectsMax'],
  },
  {
    spec: 'apps/management-api/src/deployments/deployments.spec.ts',
    title: '500 items are put in force by one deployment, and 501 are too many',
    limits: ['putting-in-force.managedMax'],
  },
  {
    spec: 'apps/management-api/src/deployments/deployments.spec.ts',
    title: 'is shown for the first twenty resources',
    limits: ['putting-in-force.shownConflictsMax'],
  },
  {
    spec: 'apps/management-api/src/listeners/listeners.spec.ts',
    title: 'a sixth listener of a tenant until one of them has ended',
    limits: ['listeners.service.listenersMax'],
  },
  {
    spec: 'apps/management-api/src/listeners/listeners.spec.ts',
    title: 'a reading with %s',
    limits: ['listeners.dto.waitSecondsMax'],
  },
  {
    spec: 'apps/management-api/src/listeners/listeners.spec.ts',
    title:
      'one part has at most 20 webhooks and a mebibyte of bodies, but a larger body comes alone',
    limits: ['listeners.partMax', 'listeners.partBytesMax'],
  },
  {
    spec: 'apps/management-api/src/listeners/listeners.spec.ts',
    title:
      'a listener ends when nobody reads, or when it is 10,000 webhooks behind, and nothing of it stays',
    limits: ['listeners.unheardMax', 'listeners.leaseOfListenerMs'],
  },
];

/** Limits that no request can be made to reach, with the reason. */
export const unreachable: readonly {
  readonly reason: string;
  readonly limits: readonly string[];
}[] = [
  {
    reason: 'a time: a busy machine cannot tell its neighbours apart',
    limits: [
      ...['linger.lingerMs', 'upgrade.tunnelCheckMs', 'discard-rest.discardingMs'],
      ...['half-closed.resetWithinMs', 'half-closed.standsMs'],
      ...['call-shares.turnWaitMs', 'MANAGEMENT_TIMEOUT_MS', 'rate-limit.tellingMs'],
      ...['body-room.largeBodyWaitMs', 'body-room.bodyIdleMs', 'body-room.bodyWholeMs'],
      ...['large-openings.largeOpeningWaitMs', 'large-openings.openingRestMaxMs'],
      ...['searches.searchWaitMs', 'searches.searchStatementMs'],
      ...['time-slices.freeMs', 'time-slices.sliceMs', 'destinations.openingWaitMs'],
      'leaves.makingWaitMs',
      ...['resolve.lookUpTimeoutMs', 'dial.dialTimeoutMs', 'destination.pauseMs'],
      ...['proxy-handler.firstByteMs', 'answer-parser.keepUnsaidMs', 'answer-parser.keepMostMs'],
      ...['kept-outcomes.countedAnewMs', 'run-once.afterRunMs', 'run-once.acceptanceMs'],
      ...['ANSWER_WHOLE_MS', 'page-shares.pageWaitMs'],
      ...['REACTOR_SYNC_TIMEOUT_MS', 'database.connectionWaitMs', 'POSTGRES_AWAY_MAX_MS'],
    ],
  },
  {
    reason: 'counts the work of many requests at once, of which the others wait',
    limits: [
      ...['call-shares.turnsMax', 'call-shares.waitingTurnsMax', 'body-room.largeBodiesMax'],
      ...['body-room.waitingBodiesMax', 'body-room.smallBodyBytesMax'],
      ...['opening-budget.openedAtOnceMax', 'large-openings.largeOpeningsMax'],
      ...['large-openings.waitingOpeningsMax', 'SEARCH_CONNECTIONS'],
      ...['searches.waitingSearchesMax', 'searches.waitingListsMax', 'destinations.openingsMax'],
      'leaves.makingsWaitingMax',
      ...['destinations.openingsWaitingMax', 'destination.failuresMax', 'page-shares.pageBytesMax'],
      ...['page-shares.waitingPagesMax', 'claimed-calls.smallAnswerBytesMax'],
      'find-runs.smallResultBytesMax',
    ],
  },
  {
    reason: 'bounds the work of a process, and changes no answer',
    limits: [
      ...['span-sender.queueMax', 'rate-limit.toldTogetherMax', 'rate-limit.untoldMax'],
      ...['log.logPartEntriesMax', 'log.logPartBytesMax', 'postgres-away.questionsWaitingMax'],
      ...[
        'expand-stream.batchBytesMax',
        'document-path.namedStepsMax',
        'ended-runs.waitingBytesMax',
      ],
      ...['call-log.waitingBytesMax', 'call-summary.waitingCellsMax'],
      ...['context.recordsWaitMs', 'ended-runs.argumentNameMax', 'kept-outcomes.tenantsMax'],
      ...['page-shares.smallAnswerBytesMax', 'page-shares.batchBytesMax'],
      ...['answers.smallAnswerBytesMax', 'shown-places.placesMax'],
      ...['token-parts.partBytesMax', 'token-sources.sourcesMax', 'token-counts.keptCountsMax'],
      ...['places.listPlacesMax', 'places.placedListsMax'],
      ...['argument-names.namesMax', 'argument-names.partsMax', 'waiting-rows.countedRowsMax'],
    ],
  },
  {
    reason: 'lies above what the head of a request has room for: 1,000 ids of 36 characters',
    limits: ['listing.listIdsMax'],
  },
  {
    reason: 'above 16 MiB, and without a setting',
    limits: ['discard-rest.discardedBytesMax'],
  },
  {
    reason: 'a certificate cannot be made of a length that one asks for',
    limits: ['proxies.dto.pemMax', 'proxies.dto.authorityPemMax'],
  },
  {
    reason: 'refuses what the filter would refuse in any case',
    limits: ['json-path.pathStepsMax', 'value-filters.cardNumberLengthMax'],
  },
  {
    reason: 'met by a destination, a receiver or a name server',
    limits: [
      ...['system-names.searchDomainsMax', 'system-names.systemFileBytesMax'],
      ...['system-names.nameServersMax', 'system-names.ndotsMax', 'system-names.nameLengthMax'],
      ...['dial.addressesTriedMax', 'answer-fault.answerHeadBytesMax', 'post.answerBytesMax'],
      ...['answer-fault.chunkExtensionBytesMax', 'answer-fault.chunkSizeDigitsMax'],
      'forward.informationalMax',
    ],
  },
  {
    reason: 'met by the code of a reactor or a transform, or by its sandbox',
    limits: [
      ...['SANDBOX_THREADS', 'SANDBOX_MEMORY_MB', 'SANDBOX_POOL_MB', 'SANDBOX_PROCESSES'],
      ...['SANDBOX_PROCESSES_PER_KEY', 'SANDBOX_STARTS', 'SANDBOX_QUEUE_WAIT_MS'],
      ...['SANDBOX_QUEUE_LENGTH', 'SANDBOX_RUNS_MAX', 'SANDBOX_AGE_MS', 'SANDBOX_IDLE_TTL_MS'],
      ...['SANDBOX_GROW_AFTER_MS', 'sandbox-stock.startWaitMs', 'sandbox-stock.readyLimitMs'],
      ...['offered-runtimes.fetchWaitMs', 'offered-runtimes.waitingBytesMax'],
      ...['offered-runtimes.fetchLimitMs', 'offered-runtimes.fetchAgainMs'],
      ...['sandbox-stock.failedStartsMax', 'sandbox-stock.startAgainFirstMs'],
      ...['launcher.namingLimitMs', 'waiting-line.orderBytesMax', 'frames.valueBytesMax'],
      ...['frames.headBytesMax', 'frames.sandboxHeadBytesMax', 'values.valueDepthMax'],
      ...['call-limits.svcCallsMax', 'call-limits.svcBytesMax', 'call-limits.svcMembersMax'],
      ...['large-calls.turnMs', 'members.nameLengthMax', 'sandbox-costs.framesPerSecond'],
      ...['sandbox-costs.framesBurstMax', 'sandbox-costs.frameBytesPerSecond'],
      ...['sandbox-costs.frameBytesBurstMax', 'frame-lanes.waitingBytesMax'],
      ...['sandbox-process.unreadBytesMax', 'sandbox-process.lastWordsMs'],
      ...['egress-connections.connectionsMax', 'egress-connections.connectTimeoutMs'],
      ...['traffic-of-run.connectionsOfRunMax', 'traffic-of-run.connectionBytesMax'],
      ...['traffic-of-run.runBytesMax', 'traffic-of-run.recordsOfRunMax'],
      ...['traffic-of-run.hostLengthMax', 'between-runs.restLimitMs', 'pool.answerLimitMs'],
      ...['silence.ranSilentlyMs', 'silence.waitedSilentlyMs', 'log-limits.logLinesMax'],
      ...['log-limits.logBytesMax', 'thrown-error.thrownTextMax', 'thrown-error.thrownEntriesMax'],
      ...[
        'thrown-error.stackFramesMax',
        'invoke-reactor.shownNamesMax',
        'invoke-reactor.lookedAtMax',
        'redact.plainLengthMax',
      ],
      ...['place-in-code.stackSearchedMax', 'place-in-code.nameSearchedMax'],
      ...[
        'known-values.knownValuesMax',
        'redact.redactionStepsMax',
        'known-values.valueCharactersMax',
      ],
      ...['opened-values.openedTextMax', 'line-redactions.stepsMax'],
      ...['line-redactions.waitingBytesMax', 'line-redactions.countedBytesMax'],
      ...['line-redactions.countedValuesMax', 'run-transform.envelopeBytesMax'],
      ...['seen-by-code.rawBodyBytesMax', 'sent-by-code.returnedHeadersMax'],
      ...['sent-by-code.returnedHeaderBytesMax', 'body-places.matchesMax'],
      'body-places.stepVisitsMax',
    ],
  },
  {
    reason: 'met by gateways, workers and runners among themselves',
    limits: [
      ...['client-connection.clientSilenceMs', 'handshakes.handshakeTimeoutMs'],
      ...['handshakes.handshakesMax', 'runner-secret.secretsMax', 'runner-client.choicesMax'],
      'runner-connection.missedBeatsMax',
    ],
  },
  {
    reason: 'met by workers, after the answer',
    limits: [
      ...['RUN_CONCURRENCY', 'DELIVERY_CONCURRENCY', 'claim-delivery.receiverDeliveriesMax'],
      ...['delivery-queue.attemptMs', 'deliver-webhook.retriesMax'],
      ...['deliver-webhook.unsentTriesMax', 'claim-delivery.unsentPauseMaxMs'],
      ...[
        'claim-delivery.retryPlacesMax',
        'claim-delivery.claimStepsMax',
        'deliver-webhook.retryAfterMaxMs',
      ],
      ...['worker.runsClaimedAtOnceMax', 'fair-queue.pauseMs', 'run-queue.faultsMax'],
      ...['worker.deliveriesClaimedAtOnceMax', 'claim-delivery.candidatesMax'],
      ...['RUNS_KEPT_DAYS', 'DELIVERIES_KEPT_DAYS', 'AUDIT_KEPT_DAYS'],
      ...['CALLS_KEPT_DAYS', 'CALL_SUMMARY_KEPT_DAYS'],
      ...['delivery-queue.attemptsListedMax', 'housekeeping.deletedRowsMax'],
      ...['consumer.remindersAtOnceMax', 'run-queue.silentRunsAtOnceMax'],
    ],
  },
  {
    reason: 'met by what is kept of a call, after its answer',
    limits: [
      ...['captures.capturedCallsMax', 'captures.allowancesMax'],
      ...['captured-messages.headBytesMax', 'captured-messages.headersMax'],
      ...['captured-messages.stepsMax', 'capture.knownCharactersMax', 'shown-leaf.pathShownMax'],
    ],
  },
  {
    reason: 'met between management API and gateway, below the limits of the body',
    limits: [
      ...['order.orderBytesMax', 'hand-over.answerBytesMax', 'hand-over.connectionsMax'],
      'used-tickets.usedMax',
    ],
  },
  {
    reason: 'met by what a dry run shows, not by its request',
    limits: ['redacted-value.stepsMax', 'rerun.service.shownTokensMax'],
  },
  {
    reason: 'met by definitions of a newer release: replica.spec.ts',
    limits: ['replica.newerToldMax'],
  },
  {
    reason: 'met by the command of an operator after a restore',
    limits: [
      ...['held-rows.rowsAtOnceMax', 'payloads.comparedBytesMax', 'what-changed.listedMax'],
      ...['after-restore.tenantsListedMax', 'after-restore.keysListedMax'],
    ],
  },
];
