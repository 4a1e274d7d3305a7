// Short names for the types that `npm run types` generates from controller/http/openapi.json.
import type { components, operations } from '../../build/schema';

type Schemas = components['schemas'];

export type Attempt = Schemas['Attempt'];
export type GrantedLayout = Schemas['GrantedLayout'];
export type CheckNodesResponse = Schemas['CheckNodesResponse'];
export type Checkpoint = Schemas['Checkpoint'];
export type CompareSeriesResponse = Schemas['CompareSeriesResponse'];
export type Event = Schemas['Event'];
export type EventEntry = Schemas['EventEntry'];
export type GetJobResponse = Schemas['GetJobResponse'];
export type GetLossReportResponse = Schemas['GetLossReportResponse'];
export type GetPlannerResponse = Schemas['GetPlannerResponse'];
export type GetRecipeResponse = Schemas['GetRecipeResponse'];
export type GetReportResponse = Schemas['GetReportResponse'];
export type GetSeriesResponse = Schemas['GetSeriesResponse'];
export type HealthFinding = Schemas['HealthFinding'];
export type HealthWord = Schemas['HealthWord'];
export type Job = Schemas['Job'];
type JobListQuery = NonNullable<operations['listJobs']['parameters']['query']>;
export type JobOrder = NonNullable<JobListQuery['order']>;
export type JobSpec = Schemas['JobSpec'];
export type JobState = Schemas['JobState'];
export type JobsChanged = Schemas['JobsChanged'];
export type Ledger = Schemas['Ledger'];
export type LedgerPhase = Schemas['LedgerPhase'];
export type ListEventsResponse = Schemas['ListEventsResponse'];
export type ListJobsResponse = Schemas['ListJobsResponse'];
export type ListKeysResponse = Schemas['ListKeysResponse'];
export type ListNodesResponse = Schemas['ListNodesResponse'];
export type ListRanksResponse = Schemas['ListRanksResponse'];
export type LossCurve = Schemas['LossCurve'];
export type LogLevel = Schemas['LogLevel'];
export type LogLine = Schemas['LogLine'];
export type Node = Schemas['Node'];
export type NodesChanged = Schemas['NodesChanged'];
export type Origin = Schemas['Origin'];
export type PendingReason = Schemas['PendingReason'];
export type PlanJobResponse = Schemas['PlanJobResponse'];
export type PlanLayoutRequest = Schemas['PlanLayoutRequest'];
export type PlanLayoutResponse = Schemas['PlanLayoutResponse'];
export type PlannedMemory = Schemas['PlannedMemory'];
export type PlannedStep = Schemas['PlannedStep'];
export type Problem = Schemas['Problem'];
export type RankState = Schemas['RankState'];
export type RankStatus = Schemas['RankStatus'];
export type ReadLogPageResponse = Schemas['ReadLogPageResponse'];
export type Series = Schemas['Series'];
export type GetServerInfoResponse = Schemas['GetServerInfoResponse'];
export type StepTime = Schemas['StepTime'];
export type StorageProblem = Schemas['StorageProblem'];
export type StreamHello = Schemas['StreamHello'];
export type SubmitJobResponse = Schemas['SubmitJobResponse'];
export type Verdict = Schemas['Verdict'];

// JSON has no NaN and no infinities, so the controller sends them as text.
export type JsonNumber = number | 'NaN' | 'Infinity' | '-Infinity';
