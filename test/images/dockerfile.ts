/** One stage of a Dockerfile, with what the stage it is built on has. */
export interface Stage {
  readonly name: string;
  /** The stage or image it begins with. */
  readonly from: string;
  readonly copies: readonly Copy[];
  readonly env: ReadonlyMap<string, string>;
  readonly user: string | null;
  readonly volume: string | null;
  /** Exec form only. */
  readonly command: readonly string[] | null;
  readonly healthCheck: readonly string[] | null;
  readonly exposed: readonly string[];
}

export interface Copy {
  /** Another stage; null: the build context. */
  readonly from: string | null;
  readonly sources: readonly string[];
  readonly target: string;
}

type Draft = { -readonly [K in keyof Stage]: Stage[K] };

/** Reads the few instructions our Dockerfile uses; throws at any other, so that nothing goes unchecked. */
export function readDockerfile(text: string): ReadonlyMap<string, Stage> {
  const stages = new Map<string, Draft>();
  let stage: Draft | undefined;
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [instruction = '', ...words] = line.split(' ');
    if (instruction === 'FROM') {
      const [from = '', , name = ''] = words;
      stage = beginOn(stages.get(from), from, name);
      stages.set(name, stage);
    } else if (stage === undefined) throw new Error(`before the first FROM: ${line}`);
    else apply(stage, instruction, words);
  }
  return stages;
}

function beginOn(parent: Stage | undefined, from: string, name: string): Draft {
  const nothing = {
    copies: [],
    env: new Map<string, string>(),
    user: null,
    volume: null,
    command: null,
    healthCheck: null,
    exposed: [],
  };
  return { ...(parent ?? nothing), name, from };
}

function apply(stage: Draft, instruction: string, words: readonly string[]): void {
  switch (instruction) {
    case 'COPY': {
      const from = words[0]?.startsWith('--from=') === true ? words[0].slice('--from='.length) : null;
      const paths = from === null ? words : words.slice(1);
      stage.copies = [...stage.copies, { from, sources: paths.slice(0, -1), target: paths.at(-1)! }];
      break;
    }
    case 'ENV':
      stage.env = new Map([...stage.env, ...words.map((word) => word.split('=') as [string, string])]);
      break;
    case 'USER':
      stage.user = words.join(' ');
      break;
    case 'VOLUME':
      stage.volume = words.join(' ');
      break;
    case 'EXPOSE':
      stage.exposed = words;
      break;
    case 'CMD':
      stage.command = execForm(words);
      break;
    case 'HEALTHCHECK':
      stage.healthCheck = execForm(words.slice(words.indexOf('CMD') + 1));
      break;
    case 'RUN':
    case 'WORKDIR':
      break;
    default:
      throw new Error(`an instruction this reader does not know: ${instruction}`);
  }
}

function execForm(words: readonly string[]): readonly string[] {
  return JSON.parse(words.join(' ')) as readonly string[];
}
