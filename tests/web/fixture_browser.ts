// Opens pages of a fixture server. Every test gets a new server and a new page.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Job } from '../../web/src/api/types';
import { launch, openPage, type OpenPage, type Theme } from './browser';
import { busyCluster } from './fixtures';
import { FixtureServer } from './fixture_server';

const LAPTOP = { width: 1280, height: 720 };

export class FixtureBrowser {
  server = new FixtureServer(busyCluster());
  private browser: Browser | undefined;
  private open: OpenPage | undefined;

  // Registers the hooks of a test file. A page that reports an error fails its test.
  constructor() {
    beforeAll(async () => {
      this.browser = await launch();
    });
    afterAll(() => this.browser?.close());
    beforeEach(async () => {
      this.server = new FixtureServer(busyCluster());
      await this.server.start();
    });
    afterEach(async () => {
      await this.leave();
      await this.server.stop();
    });
  }

  // Closes the page of the last visit.
  private async leave(): Promise<void> {
    await this.open?.context.close();
    expect(this.open?.complaints ?? []).toEqual([]);
    this.open = undefined;
  }

  async visit(path: string, viewport = LAPTOP, theme: Theme = 'light'): Promise<Page> {
    await this.leave();
    this.open = await openPage(this.browser!, this.server.url + path, theme, viewport);
    return this.open.page;
  }

  job(id: number): Job {
    return this.server.cluster.jobs.find((job) => job.id === id)!;
  }
}
