/*
## Chapter 25, GPT-2 {#header-gpt2}
*/

#pragma once

/* The tokens that every text can be written in; the first merge makes the
 * next one. */
enum { BPE_BYTES = 256 };

/* The two neighbours that stand together most often, the first of equals:
 * how often is returned, and 0 where there are no two tokens, which leaves
 * `pair` as it is. Refuses an id that is not below `tokens`.
 * Python: max(pairs, key=pairs.get) of Counter(zip(ids, ids[1:])). */
int most_frequent_pair(int tokens, int n, const int ids[n], int pair[2]);

/* Puts a token in place of each such pair, from left to right; returns how
 * many tokens are left.
 * Sennrich et al. 2016, algorithm 1. */
int bpe_merge(int n, int ids[n], const int pair[2], int whole);

/* Learns merges from a text of bytes, which is merged on the way: merge k
 * makes token BPE_BYTES + k of pair[k]. Ends where no pair occurs twice;
 * returns how many merges were made. Refuses an id that is no byte.
 * Sennrich et al. 2016, algorithm 1, on bytes and without words. */
int bpe_train(int n, int ids[n], int merges, int pair[merges][2]);

/* Merges a text of bytes as learned; returns how many tokens are left. */
int bpe_encode(int merges, const int pair[merges][2], int n, int ids[n]);

/* The bytes of one token, of which `most` fit: returns how many there are.
 * Refuses an id that is no token, and too little room. */
int bpe_decode(int merges, const int pair[merges][2], int id, int most,
               char text[most]);
