import { connect, type Socket } from 'node:net';
import { bodyOf, fieldsOf, type Aim } from '../traffic.js';
import { checkAnswers } from './answers.js';

const LENGTH = /\r\ncontent-length: *(\d+)/i;
const TICK_MS = 1;

interface Driven {
  readonly requests: number;
  /** Of each answered request, in no order. */
  readonly latenciesMs: readonly number[];
}

/**
 * HTTP/1.1 without TLS. With a `rate` (requests a second) they are sent when they are due, whether or
 * not others were answered, and time counts from then: what waits for a free connection waits on the clock.
 * Without: each connection sends its next request when the last was answered.
 */
export async function drive(aim: Aim, seconds: number, rate?: number): Promise<Driven> {
  const run = await Run.to(aim);
  await (rate === undefined ? run.closed(seconds) : run.paced(seconds, rate));
  return run.end();
}

/** Connections that stay open from one load to the next. */
export class Run {
  readonly #aim: Aim;
  readonly #messages: readonly Buffer[];
  readonly #idle: Connection[] = [];
  readonly #all: Connection[] = [];
  /** When requests were due that found no idle connection, oldest first. */
  readonly #waiting: number[] = [];
  readonly #latenciesMs: number[] = [];
  #sent = 0;
  #good = 0;
  #broken = 0;
  #onAnswer: (connection: Connection) => void = () => undefined;

  private constructor(aim: Aim) {
    this.#aim = aim;
    this.#messages = aim.tokens.map((token) => messageOf(aim, token));
  }

  static async to(aim: Aim): Promise<Run> {
    const run = new Run(aim);
    run.#idle.push(...(await Promise.all(Array.from({ length: aim.traffic.connections }, () => run.#open()))));
    return run;
  }

  /** Requests answered so far. */
  get answered(): number {
    return this.#latenciesMs.length;
  }

  async #open(): Promise<Connection> {
    const connection = await Connection.to(
      this.#aim.port,
      (status, took) => {
        this.#latenciesMs.push(took);
        if (status < 400) this.#good += 1;
        this.#onAnswer(connection);
      },
      () => (this.#broken += 1),
    );
    this.#all.push(connection);
    return connection;
  }

  #send(connection: Connection, dueMs: number): void {
    connection.send(this.#messages[this.#sent++ % this.#messages.length]!, dueMs);
  }

  closed(seconds: number): Promise<void> {
    const endMs = performance.now() + seconds * 1000;
    return new Promise((resolve) => {
      let busy = this.#idle.length;
      this.#onAnswer = (connection) => {
        const nowMs = performance.now();
        if (nowMs < endMs && this.#broken === 0) {
          this.#send(connection, nowMs);
          return;
        }
        this.#idle.push(connection);
        if (--busy === 0 || this.#broken > 0) resolve();
      };
      for (const connection of this.#idle.splice(0)) this.#send(connection, performance.now());
    });
  }

  paced(seconds: number, rate: number): Promise<void> {
    const startMs = performance.now();
    const total = Math.round(seconds * rate);
    this.#onAnswer = (connection) => {
      const due = this.#waiting.shift();
      if (due === undefined) this.#idle.push(connection);
      else this.#send(connection, due);
    };
    return new Promise((resolve) => {
      let due = 0;
      const timer = setInterval(() => {
        const nowMs = performance.now();
        for (; due < total && startMs + (due / rate) * 1000 <= nowMs; due += 1) {
          const connection = this.#idle.pop();
          if (connection === undefined) this.#waiting.push(nowMs);
          else this.#send(connection, nowMs);
        }
        if (this.#latenciesMs.length < total && this.#broken === 0) return;
        clearInterval(timer);
        resolve();
      }, TICK_MS);
    });
  }

  end(): Driven {
    for (const connection of this.#all) connection.end();
    const requests = this.#latenciesMs.length;
    checkAnswers(this.#aim, { good: this.#good, refused: requests - this.#good, broken: this.#broken });
    return { requests, latenciesMs: this.#latenciesMs };
  }
}

function messageOf(aim: Aim, token: string): Buffer {
  const fields = Object.entries({ ...fieldsOf(aim), Authorization: `Bearer ${token}` })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return Buffer.from(
    `${aim.traffic.method} ${aim.traffic.target} HTTP/1.1\r\nHost: ` +
      `127.0.0.1:${aim.port}\r\n${fields}\r\n${bodyOf(aim.traffic)}`,
  );
}

/** One connection with at most one request on it. */
export class Connection {
  readonly #socket: Socket;
  #received = '';
  #dueMs = 0;

  private constructor(socket: Socket, onAnswer: (status: number, tookMs: number) => void, onBroken: () => void) {
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.#received += text;
      const head = this.#received.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(LENGTH.exec(this.#received.slice(0, head))?.[1] ?? 0);
      if (this.#received.length < head + 4 + length) return;
      const status = Number(this.#received.slice(9, 12));
      this.#received = '';
      onAnswer(status, performance.now() - this.#dueMs);
    });
    socket.on('error', () => socket.destroy());
    socket.on('end', onBroken);
  }

  static to(
    port: number,
    onAnswer: (status: number, tookMs: number) => void,
    onBroken: () => void,
  ): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new Connection(socket, onAnswer, onBroken)));
    });
  }

  send(message: Buffer, dueMs: number): void {
    this.#dueMs = dueMs;
    this.#socket.write(message);
  }

  end(): void {
    this.#socket.removeAllListeners('end').destroy();
  }
}
