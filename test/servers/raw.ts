import type { Socket } from 'node:net';
import { AnswerReader, type RawAnswer } from './answer-reader.js';
import { dial, type Target } from './dial.js';
import type { Teardown } from './program.js';

export type { RawAnswer } from './answer-reader.js';

/** Writes bytes to a port and gives every answer until the server closes, or `answers` came. */
export function exchangeRaw(
  target: Target,
  bytes: string | Buffer,
  answers = Infinity,
  withinMs = 30_000,
): Promise<readonly RawAnswer[]> {
  return new Promise((resolve, reject) => {
    const socket = dial(target);
    const reader = new AnswerReader();
    const finish = (): void => {
      clearTimeout(deadline);
      socket.destroy();
      resolve(reader.answers);
    };
    const deadline = setTimeout(() => {
      socket.destroy();
      reject(
        new Error(
          `no end of answers within ${withinMs} ms; ${reader.answers.length} complete ones so far, ` +
            `${socket.bytesRead} bytes`,
        ),
      );
    }, withinMs);
    socket.setEncoding('latin1');
    socket.write(bytes);
    socket.on('data', (piece: string) => {
      reader.add(piece);
      if (reader.answers.length >= answers) finish();
    });
    socket.on('end', finish);
    socket.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(deadline);
      if (socket.bytesRead === 0) reject(error);
      else finish();
    });
  });
}

/** A connection that stays open, and what came on it. */
export interface Line {
  readonly socket: Socket;
  readonly text: () => string;
  readonly answers: () => readonly RawAnswer[];
  readonly isClosed: () => boolean;
}

/** Sends `bytes`, and reads on until the test ends. */
export function openLine(t: Teardown, target: Target, bytes: string): Line {
  const socket = dial(target);
  t.teardown(() => socket.destroy());
  let [text, isClosed] = ['', false];
  socket.setEncoding('latin1').on('data', (some: string) => (text += some));
  socket.on('error', () => undefined).on('close', () => (isClosed = true));
  if (bytes !== '') socket.write(bytes);
  return { socket, text: () => text, answers: () => parseAnswers(text), isClosed: () => isClosed };
}

export function statusesOf(answers: readonly { readonly status: number }[]): readonly number[] {
  return answers.map(({ status }) => status);
}

/** The complete answers at the start of `text`; interim (1xx) ones are left out. */
export function parseAnswers(text: string): readonly RawAnswer[] {
  const reader = new AnswerReader();
  reader.add(text);
  return reader.answers;
}
