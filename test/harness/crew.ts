import type { Child, Exit } from './process.ts';

/** Processes that do the same work; one that ends can be replaced. */
export class Crew<Member extends Child> {
  readonly members: Member[] = [];
  readonly #size: number;
  readonly #start: () => Member | Promise<Member>;

  constructor(size: number, start: () => Member | Promise<Member>) {
    this.#size = size;
    this.#start = start;
  }

  /** Starts a process in each place in which none runs. @returns how many */
  async fill(): Promise<number> {
    let started = 0;
    for (let place = 0; place < this.#size; place += 1) {
      if (this.members[place]?.isRunning === true) continue;
      this.members[place] = await this.#start();
      started += 1;
    }
    return started;
  }

  /** Kills some of them, and starts others in their place. @returns whether all of them still ran */
  async kill(victims: readonly Member[]): Promise<boolean> {
    const alive = victims.filter(({ isRunning }) => isRunning);
    for (const victim of alive) victim.kill('SIGKILL');
    await Promise.all(victims.map(({ exit }) => exit));
    await this.fill();
    return alive.length === victims.length;
  }

  draw(random: () => number): Member[] {
    const drawn = this.members[Math.floor(random() * this.members.length)];
    return drawn === undefined ? [] : [drawn];
  }

  /** All of them once in four, else one. */
  drawSome(random: () => number): Member[] {
    return random() < 0.25 ? [...this.members] : this.draw(random);
  }

  /** Asks all of them to stop. @returns how each ended */
  stop(boundMs?: number): Promise<Exit[]> {
    for (const member of this.members) member.kill('SIGTERM');
    return Promise.all(this.members.map((member) => member.ended(boundMs)));
  }
}
