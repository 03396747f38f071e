import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countOf,
  formatAgo,
  formatDuration,
  formatExact,
  formatLatency,
  formatList,
  formatRate,
  formatScore,
} from '../../src/results-page/format';

/** The text with ordinary spaces, as a person reads it. */
const plain = (text: string): string => text.replaceAll('\u00a0', ' ');

test('counts have thousands and agree with their noun', () => {
  assert.equal(countOf(1, 'answer'), '1 answer');
  assert.equal(countOf(0, 'answer'), '0 answers');
  assert.equal(countOf(214300, 'token'), '214,300 tokens');
});

test('scores are per cent where they are shares', () => {
  assert.equal(plain(formatScore(0.713, 1)), '71.3 %');
  assert.equal(plain(formatScore(1, 1)), '100.0 %');
  assert.equal(formatScore(-0.25, 1), '-0.250');
  assert.equal(formatScore(12.5, 2), '12.5000');
  assert.equal(formatExact(0.675), '0.6750');
});

test('times are as short as they can be', () => {
  assert.equal(formatDuration(42_900), '0:42');
  assert.equal(formatDuration(725_000), '12:05');
  assert.equal(formatDuration(3_723_000), '1:02:03');
  assert.equal(formatDuration(-5_000), '0:00');
  assert.equal(plain(formatAgo(12_400)), '12 s ago');
  assert.equal(plain(formatAgo(190_000)), '3 min ago');
  assert.equal(plain(formatAgo(5 * 3_600_000)), '5 h ago');
  assert.equal(plain(formatAgo(72 * 3_600_000)), '3 days ago');
  assert.equal(plain(formatLatency(52.6)), '53 ms');
  assert.equal(plain(formatLatency(4012)), '4.0 s');
});

test('a slow rate keeps a digit', () => {
  assert.equal(plain(formatRate(38.33)), '38 answers/s');
  assert.equal(plain(formatRate(0.42)), '0.4 answers/s');
});

test('lists read as a sentence', () => {
  assert.equal(formatList([5]), '5');
  assert.equal(formatList([2, 5]), '2 and 5');
  assert.equal(formatList([2, 5, 7]), '2, 5 and 7');
});
