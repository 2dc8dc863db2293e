import type { Contents } from './blocks.ts';
import { activityAt } from './calendar.ts';
import type { Lived } from './chain.ts';
import { feeVault } from './directory.ts';
import type { Random } from './random.ts';
import { minedAt } from './timetable.ts';

const gasLimit = 60_000_000;
/** Blocks hold twice their target. */
const elasticity = 2;

/** Gas of a transaction, and bytes, on average. */
const gasEach = 120_000;
const bytesEach = 310;
const emptyBytes = 900;

/** Wei a gas: the base fee of a quiet hour, and what is paid on top. */
const quietBaseFee = 900_000;
const priorityFee = 1_200_000;

/** What a block holds, by how busy its hour is. */
export function plausibleContents({ timetable }: Lived, height: number, random: Random): Contents {
  const timestampMs = minedAt(timetable, height);
  const activity = activityAt(timetable, timestampMs);
  const part = Math.min(0.97, 0.11 * activity * Math.exp(0.5 * random.bell()));
  const gasUsed = Math.round(gasLimit * part);
  const transactionsCount = 1 + Math.round(gasUsed / (gasEach * (0.7 + 0.6 * random.part())));
  const baseFee = Math.round(quietBaseFee * activity * (0.95 + 0.1 * random.part()));
  const tip = Math.round(priorityFee * Math.exp(0.6 * random.bell()));
  const [burnt, paid] = [BigInt(baseFee) * BigInt(gasUsed), BigInt(tip) * BigInt(gasUsed)];
  return {
    timestampMs,
    minerHash: feeVault,
    gasLimit: String(gasLimit),
    gasUsed: String(gasUsed),
    gasUsedPercentage: part * 100,
    gasTargetPercentage: (part * elasticity - 1) * 100,
    baseFeePerGas: String(baseFee),
    burntFees: String(burnt),
    burntFeesPercentage: (100 * baseFee) / (baseFee + tip),
    priorityFee: String(paid),
    transactionFees: String(burnt + paid),
    difficulty: '0',
    totalDifficulty: '0',
    nonce: '0x0000000000000000',
    size: emptyBytes + Math.round(transactionsCount * bytesEach * (0.8 + 0.4 * random.part())),
    transactionsCount,
    isPendingUpdate: false,
    rewards: [],
    uncles: [],
    arbitrum: null,
  };
}
