// Instructions for a new cluster, shown until it has a job.
import { jobList, nodeList } from '../api/store';
import { plural } from '../format/numbers';
import { CommandLine } from '../ui/copy';
import { Icon } from '../ui/icon';
import { workerLine } from './cluster_map';

const JOB_FILE = `name: first-run
command: [python3, train.py]
resources: {nodes: 1, slots_per_node: 8, device: gpu}`;

export function isNew(): boolean {
  return jobList.value?.length === 0;
}

function Step({
  number,
  title,
  done,
  children,
}: {
  number: number;
  title: string;
  done?: boolean;
  children: preact.ComponentChildren;
}) {
  return (
    <li class={done ? 'done' : ''}>
      <span class="step-number" aria-hidden="true">
        {done ? <Icon name="check" /> : number}
      </span>
      <div>
        <h3>{title}</h3>
        {children}
      </div>
    </li>
  );
}

export function FirstSteps() {
  const nodes = nodeList.value?.length ?? 0;
  return (
    <section class="card first-steps" aria-labelledby="first-title">
      <header>
        <h2 id="first-title">First steps</h2>
      </header>
      <ol>
        <Step
          number={1}
          title={nodes > 0 ? `${plural(nodes, 'worker')} joined` : 'Start a worker on each machine'}
          done={nodes > 0}
        >
          {nodes === 0 && (
            <>
              <p class="faint">
                GPUs are detected automatically. A machine without GPUs offers CPU slots.
              </p>
              <CommandLine text={workerLine()} />
            </>
          )}
        </Step>
        <Step number={2} title="Describe a job">
          <p class="faint">
            Write a file such as job.yaml. Any program can be a job: it receives the environment
            variables of torchrun. Or start from a recipe: <code>trainyard recipes</code> lists all
            recipes.
          </p>
          <pre tabIndex={0}>{JOB_FILE}</pre>
        </Step>
        <Step number={3} title="Submit the job">
          <p class="faint">
            The job&apos;s curves, ranks and output appear here automatically. If the job has to
            wait, the queue shows why.
          </p>
          <CommandLine text="trainyard submit -f job.yaml" />
        </Step>
      </ol>
    </section>
  );
}
