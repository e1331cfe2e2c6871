import type { ChildProcess } from 'node:child_process';

/** A pid alone is used again by the kernel; with the start time it names one process for good. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

export interface NamedProcess extends ProcessIdentity {
  readonly name: string;
}

/** A process that these scripts started, with its log. */
export interface Service extends NamedProcess {
  readonly logFile: string;
  /** The bytes of the log that earlier starts wrote. */
  readonly logBegin: number;
  readonly child: ChildProcess;
  startedAt: string;
  /** Says how it ended, once it has. */
  ended: string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ServiceUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** A program found on this machine or brought along, and the environment that it needs. */
export interface Program {
  readonly command: string;
  readonly env: Environment;
  readonly from: string;
}

/** A store that was started, and the wait until it answers. */
export interface StartedStore {
  readonly service: Service;
  readonly url: string;
  readonly from: string;
  ready(signal?: AbortSignal): Promise<void>;
}

export interface StoreOptions {
  readonly folder: string;
  readonly password: string;
  readonly logFile: string;
  /** False when nobody will miss the data. */
  readonly durable: boolean;
  /** 0 stands for any free port. */
  readonly port: number;
}

export type Secrets = Readonly<
  Record<
    | 'postgresPassword'
    | 'ownerPassword'
    | 'managementPassword'
    | 'dataPassword'
    | 'rotationPassword'
    | 'redisPassword'
    | 'runnerSecret',
    string
  >
>;

export type DatabaseUrls = Readonly<
  Record<'admin' | 'owner' | 'management' | 'data' | 'rotation', string>
>;

/** The variable that an app takes its key ring from. */
export interface KeyRingVariable {
  readonly KEY_RING?: string;
  readonly KEY_RING_FILE?: string;
}

export interface TenantKeys {
  readonly tenantId: string;
  readonly adminKey: string;
  readonly privateKey: string;
}

export interface DemoTenants extends TenantKeys {
  readonly secondTenant: TenantKeys;
}

/** The line that tenant-create prints. */
export interface CreatedTenant {
  readonly tenant_id: string;
  readonly name: string;
  readonly management_key: string;
  readonly private_key?: string;
}

/** The line that tenant-key prints. */
export interface CreatedManagementKey {
  readonly tenant_id: string;
  readonly application_id: string;
  readonly management_key: string;
}

/** A block of the tour, of one or more lines. */
export interface TourStep {
  readonly comment: string;
  readonly command: string;
  /** What it prints, in JSON where "…" stands for any text, and a member "…" for any members. */
  output?: string;
}

/** The running product as dev.json describes it. */
export interface Dev extends DemoTenants {
  readonly baseUrl: string;
  readonly managementUrl: string;
  readonly consoleUrl: string;
  readonly forwardUrl: string;
  /** Where SANDBOX_INSPECT is true. */
  readonly inspectorPort?: number;
  readonly gatewayUrls: readonly string[];
  readonly databaseUrl: string;
  readonly databaseUrls: DatabaseUrls;
  readonly redisUrl: string;
  readonly demoDestination: string;
  readonly sandboxes: string;
  /** The program, where there is one that works here. */
  readonly bubblewrap?: string;
  readonly opsUrls: Readonly<Record<string, string>>;
  readonly keyRingFile?: string;
  readonly logFiles: Readonly<Record<string, string>>;
  readonly pids: Readonly<Record<string, number>>;
  /** EGRESS_ALLOW and --allow. */
  readonly allow: readonly string[];
  readonly tour: readonly TourStep[];
}

export interface AppPorts {
  readonly gateway: number;
  readonly 'management-api': number;
  readonly console: number;
  readonly forward: number;
  /** Where SANDBOX_INSPECT is true. */
  readonly inspector?: number;
  readonly ops: Readonly<Record<string, number>>;
}

/** The command that starts an app. */
export interface AppCommand {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
  readonly opsUrl: string;
}

/** bubblewrap where it works, else the reason why there is none. */
export interface FoundBubblewrap {
  readonly command?: string;
  readonly missing?: string;
}
