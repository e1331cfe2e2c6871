/** What this release's code needs, oldest first. A spec compares it with the migrations. */
export const knownMigrations: readonly string[] = [
  'CreateSchema0000000000001',
  'LogCalls0000000000002',
  'KeepReasonsOfRuns0000000000003',
  'AddAllowedOrigins0000000000004',
  'AddReaderVersions0000000000005',
  'MarkTheDatabase0000000000006',
  'RecordMigrations0000000000007',
  'AddPeopleAndSessions0000000000008',
  'KeepArgumentsOfRuns0000000000009',
  'FindByTraceAndCode0000000000010',
  'CaptureCalls0000000000011',
  'KeepCodeOfRuns0000000000012',
  'EndPeopleAndCountByBucket0000000000013',
  'AddSlugs0000000000014',
  'KeepDeployments0000000000015',
  'AddScrub0000000000025',
];
