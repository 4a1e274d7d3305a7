// Runs once before all test files. Starts a seeded cluster and an empty cluster, and provides their
// URLs to the tests.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { Cluster, FULL_SIZE, SeededCluster } from './cluster';

declare module 'vitest' {
  export interface ProvidedContext {
    // URLs of the clusters; "" if the programs are not built.
    seeded: string;
    empty: string;
    // Process id of the seeded cluster's controller.
    controllerPid: number;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const programs = process.env['TRAINYARD_BIN'] ?? '';
  const built = existsSync(join(programs, 'trainyard-controller'));
  if (programs !== '' && !built) throw new Error(`TRAINYARD_BIN: no controller in ${programs}`);
  const seeded = new SeededCluster(programs);
  const empty = new Cluster(programs);
  if (built) {
    await seeded.start(FULL_SIZE);
    await empty.startController();
  }
  project.provide('seeded', built ? seeded.url : '');
  project.provide('empty', built ? empty.url : '');
  project.provide('controllerPid', built ? seeded.controllerPid : 0);
  return async () => {
    await seeded.stop();
    await empty.stop();
  };
}
