import { existsSync, globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments, parseDocument } from 'yaml';
import { z } from 'zod';
import { parseConfig } from '../../src/config/load.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { type Config, defaultListen } from '../../src/config/schema.ts';
import { parseDuration } from '../../src/time.ts';
import { call } from '../harness/process.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const yamlFiles = globSync(['deploy/**/*.{yaml,yml}', 'docker-compose.yml', '.github/**/*.yml'], {
  cwd: root,
}).toSorted();
const isOfJob = (file: string): boolean => file.includes('/cron-job/');
const configFiles = yamlFiles.filter((file) => file.endsWith('explorer-etl.yaml'));

/** Ports that all of it agrees on: the page's is the one that the program uses if nobody says otherwise. */
const ports = { page: defaultListen.port, metrics: 9464 };
/** Every address of the machine, for what stands outside the container. */
const anywhere = '0.0.0.0';
const digest = /@sha256:[0-9a-f]{64}$/u;

const environmentSchema = z.record(z.string(), z.string());
const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string().optional(),
      environment: environmentSchema.default({}),
      secrets: z.array(z.string()).default([]),
      ports: z.array(z.string()).default([]),
      volumes: z.array(z.string()).default([]),
    }),
  ),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});

const probeSchema = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const containerSchema = z.object({
  image: z.string(),
  args: z.array(z.string()),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
});
const serverSchema = containerSchema.extend({
  ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
  startupProbe: probeSchema,
  livenessProbe: probeSchema,
  readinessProbe: probeSchema,
});
const podOf = <Schema extends z.ZodType>(container: Schema) =>
  z.object({
    securityContext: z.object({ runAsNonRoot: z.literal(true), runAsUser: z.int().min(1) }),
    containers: z.tuple([container]),
  });
const templateOf = <Schema extends z.ZodType>(spec: Schema) =>
  z.object({ template: z.object({ spec }) });
const deploymentSchema = z.object({
  spec: templateOf(podOf(serverSchema)).extend({ replicas: z.int().min(2) }),
});
const cronJobSchema = z.object({
  spec: z.object({
    concurrencyPolicy: z.literal('Forbid'),
    jobTemplate: z.object({
      spec: templateOf(podOf(containerSchema)).extend({ activeDeadlineSeconds: z.int() }),
    }),
  }),
});

const readYaml = <Schema extends z.ZodType>(file: string, schema: Schema) =>
  schema.parse(parseDocument(read(file)).toJS());
const compose = readYaml('docker-compose.yml', composeSchema);
const deployment = readYaml('deploy/kubernetes/base/deployment.yaml', deploymentSchema);
const pod = deployment.spec.template.spec;
const [container] = pod.containers;
const { spec: cronJob } = readYaml('deploy/kubernetes/cron-job/cron-job.yaml', cronJobSchema).spec
  .jobTemplate;
const [jobContainer] = cronJob.template.spec.containers;
const unit = read('deploy/systemd/explorer-etl.service');

/** The variables that the program reads, as it reads them. */
function knownVariables(): ReadonlySet<string> {
  const names = new Set<string>();
  const recording = new Proxy<NodeJS.ProcessEnv>(
    {},
    { get: (_, name) => void names.add(String(name)) },
  );
  readEnvironment(recording, root, () => undefined);
  return names;
}

/** What each way to run the program sets for it. */
const environments: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  compose: compose.services['explorer-etl']!.environment,
  kubernetes: Object.fromEntries(container.env.map(({ name, value }) => [name, value])),
  'cron job': Object.fromEntries(jobContainer.env.map(({ name, value }) => [name, value])),
  systemd: Object.fromEntries(
    [...unit.matchAll(/^Environment=(?<name>\w+)=(?<value>.*)$/gmu)].map(({ groups }) => [
      groups!['name']!,
      groups!['value']!,
    ]),
  ),
  image: { EXPLORER_ETL_CONFIG: /EXPLORER_ETL_CONFIG=(\S+)/u.exec(read('deploy/Dockerfile'))![1]! },
};

test('every file is YAML', () => {
  expect(yamlFiles.length).toBeGreaterThan(10);
  for (const file of yamlFiles) {
    const documents = parseAllDocuments(read(file));
    expect(
      documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]),
      file,
    ).toEqual([]);
  }
});

test.each(configFiles.filter((file) => !isOfJob(file)))(
  '%s is a configuration, with the usual ports',
  (file) => {
    const config = parseConfig(read(file), file);
    expect(config).not.toBeInstanceOf(Array);
    const { http } = config as Config;
    expect(http).toEqual({
      listen: { host: anywhere, port: ports.page },
      metrics: { host: anywhere, port: ports.metrics },
    });
  },
);

test.each(Object.entries(environments))('%s sets variables that the program reads', (_, set) => {
  expect(Object.keys(set).length).toBeGreaterThan(0);
  expect(Object.keys(set).filter((name) => !knownVariables().has(name))).toEqual([]);
});

test.each(Object.entries(environments))('%s takes each secret from a file', (_, set) => {
  const names = Object.keys(set).filter((name) => name !== 'EXPLORER_ETL_CONFIG');
  expect(names.filter((name) => !name.endsWith('_FILE'))).toEqual([]);
});

test('each file of a secret is where it is put', () => {
  const secretsOf = Object.fromEntries(
    ['compose', 'kubernetes', 'systemd'].map((way) => [
      way,
      Object.entries(environments[way]!)
        .filter(([name]) => name.endsWith('_FILE'))
        .map(([, file]) => file),
    ]),
  );
  const { secrets } = compose.services['explorer-etl']!;
  expect(secretsOf['compose']).toEqual(secrets.map((name) => `/run/secrets/${name}`));
  for (const name of secrets) expect(compose.secrets[name]?.file).toBe(`./secrets/${name}`);

  const mounted = container.volumeMounts.find(({ name }) => name === 'secrets')!.mountPath;
  expect(secretsOf['kubernetes']).toEqual(secrets.map((name) => `${mounted}/${name}`));

  const credentials = [...unit.matchAll(/^LoadCredential=(?<name>[\w-]+):/gmu)];
  expect(secretsOf['systemd']).toEqual(credentials.map(({ groups }) => `%d/${groups!['name']}`));
});

/** Each image that a file names, wherever YAML or a Dockerfile can: at `image`, `driver-opts`, `generator` or FROM. */
function imagesOf(file: string): string[] {
  const text = read(file);
  const named = text.matchAll(
    /(?:^[ -]*image: +|\bdriver-opts: image=|\bgenerator=|^FROM +(?:--\S+ +)*)["']?(?<image>[^\s"',]+)/gmu,
  );
  const stages = new Set([...text.matchAll(/^FROM .* AS (\S+)$/gmu)].map(([, stage]) => stage));
  const images = [...named].map(({ groups }) => groups!['image']!);
  // Ours is built from here; an overlay has its digest.
  return images.filter((image) => !stages.has(image) && !/^explorer-etl(?::|$)/u.test(image));
}

const withImages = ['deploy/Dockerfile', ...yamlFiles, 'test/harness/compose.yaml'];

test('every image is pinned by digest', () => {
  const images = withImages.flatMap((file) => imagesOf(file).map((image) => [file, image]));
  expect(new Set(images.map(([file]) => file))).toEqual(
    new Set([
      'deploy/Dockerfile',
      'docker-compose.yml',
      '.github/workflows/release.yml',
      'test/harness/compose.yaml',
    ]),
  );
  expect(images.filter(([, image]) => !digest.test(image!))).toEqual([]);
});

test('a Kubernetes overlay pins the image by digest', () => {
  const overlays = globSync('deploy/kubernetes/{overlays/*,cron-job}/kustomization.yaml', {
    cwd: root,
  });
  const overlay = z.object({
    images: z.array(z.strictObject({ name: z.string(), newName: z.string(), digest: z.string() })),
  });
  expect(overlays.length).toBeGreaterThan(0);
  for (const file of overlays) {
    for (const image of readYaml(file, overlay).images) expect(`@${image.digest}`).toMatch(digest);
  }
});

const manifestSchema = z.object({
  version: z.string(),
  devDependencies: z.record(z.string(), z.string()),
});
const manifest = manifestSchema.parse(JSON.parse(read('package.json')));
/** Runs the program as a job does. Without a key it ends once it has read its arguments and its file. */
const runKeyless = (args: readonly string[]) =>
  call(args, {
    cwd: tmpdir(),
    env: { EXPLORER_ETL_CONFIG: join(root, 'deploy/kubernetes/cron-job/explorer-etl.yaml') },
  });
const keyMissing = { code: 2, stderr: expect.stringContaining('EXPLORER_API_KEY') };

test('the example of GitHub Actions ends in time, runs alone, and takes its secrets from the repository', async () => {
  const schema = z.object({
    on: z.object({ schedule: z.tuple([z.object({ cron: z.string() })]) }),
    concurrency: z.object({ group: z.string() }),
    jobs: z.object({
      sync: z.object({
        'timeout-minutes': z.int(),
        steps: z.array(z.object({ run: z.string().optional(), env: environmentSchema.optional() })),
      }),
    }),
  });
  const { sync } = readYaml('deploy/github-actions/sync.yaml', schema).jobs;
  const last = sync.steps.at(-1);
  const [program, ...args] = last!.run!.split(' ');
  expect(program).toBe('explorer-etl');
  expect(await runKeyless(args)).toMatchObject(keyMissing);
  expect(sync['timeout-minutes'] * 60_000).toBeGreaterThan(parseDuration(args.at(-1)!)!);
  expect(last!.env).toEqual({
    EXPLORER_API_KEY: '${{ secrets.EXPLORER_API_KEY }}',
    DATABASE_URL: '${{ secrets.DATABASE_URL }}',
  });
  expect(Object.keys(last!.env!).filter((name) => !knownVariables().has(name))).toEqual([]);
  expect(sync.steps.at(-2)!.run).toMatch(new RegExp(` explorer-etl@${manifest.version}$`, 'u'));
});

test('the cron job ends in time, is that of the image, and has a configuration that judges its schedule', async () => {
  expect(await runKeyless(jobContainer.args)).toMatchObject(keyMissing);
  const forMs = parseDuration(jobContainer.args.at(-1)!)!;
  expect(cronJob.activeDeadlineSeconds * 1000).toBeGreaterThan(forMs);
  expect(jobContainer.image).toBe(container.image);
  expect(container.image).toBe(`explorer-etl:${manifest.version}`);
  expect(cronJob.template.spec.securityContext).toEqual(pod.securityContext);
  expect(jobContainer.volumeMounts).toEqual(container.volumeMounts);
  const file = configFiles.find(isOfJob);
  const { deployment: name, chains } = parseConfig(read(file!), file!) as Config;
  expect(name).toBe('production');
  const lists = chains!.flatMap(({ operations }) => Object.values(operations ?? {}));
  expect(lists.length).toBeGreaterThan(1);
  expect(lists.filter((list) => list?.freshness === undefined)).toEqual([]);
});

test('the image has the Node that the tests run on, and runs as the user of the pods', () => {
  const { devDependencies } = manifest;
  const dockerfile = read('deploy/Dockerfile');
  expect(dockerfile).toContain(`FROM node:${devDependencies['node']}-`);
  const user = /^USER (?<user>\d+):\d+$/mu.exec(dockerfile)!.groups!['user'];
  expect(user).toBe(String(pod.securityContext.runAsUser));
});

test('ports are the same everywhere', () => {
  expect(read('deploy/Dockerfile')).toContain(`EXPOSE ${ports.page} ${ports.metrics}`);
  expect(read('deploy/Dockerfile')).toContain(`http://127.0.0.1:${ports.metrics}/healthz`);
  // To this machine alone.
  const open = Object.values(compose.services).flatMap((service) => service.ports);
  expect(open).toContain(`127.0.0.1:${ports.page}:${ports.page}`);
  expect(open.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  expect(container.ports).toEqual([
    { name: 'page', containerPort: ports.page },
    { name: 'metrics', containerPort: ports.metrics },
  ]);
  expect(read('deploy/compose/prometheus.yaml')).toContain(`port: ${ports.metrics}`);
  const services = read('deploy/kubernetes/base/service.yaml');
  expect(services).toContain(`prometheus.io/port: '${ports.metrics}'`);
});

test('no probe restarts a pod, or takes it away, because data is late or a key is refused', () => {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
    expect(probe.httpGet).toEqual({ path: '/healthz', port: 'metrics' });
  }
});

test("selectors match the program's pods, and no others of the namespace", () => {
  const label = { 'app.kubernetes.io/name': 'explorer-etl' };
  const folder = 'deploy/kubernetes/base';
  const matching = z.object({ matchLabels: z.record(z.string(), z.string()) });
  const budget = z.object({ spec: z.object({ selector: matching }) });
  const policy = z.object({ spec: z.object({ podSelector: matching }) });
  expect(
    readYaml(`${folder}/pod-disruption-budget.yaml`, budget).spec.selector.matchLabels,
  ).toEqual(label);
  expect(readYaml(`${folder}/network-policy.yaml`, policy).spec.podSelector.matchLabels).toEqual(
    label,
  );
});

test('files that compose mounts exist, and its Prometheus job has the name that the alerts use', () => {
  const mounted = Object.values(compose.services)
    .flatMap(({ volumes }) => volumes)
    .filter((volume) => volume.startsWith('./'))
    .map((volume) => volume.split(':')[0]!);
  expect(mounted.length).toBeGreaterThan(3);
  expect(mounted.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  for (const file of ['deploy/compose/prometheus.yaml', 'deploy/prometheus/prometheus.yaml']) {
    expect(read(file)).toContain('job_name: explorer-etl');
  }
});
