/*
## Chapter 5, words and rows {#header-tokens}
*/

#pragma once

/* A word and its closing 0; and how many words a sentence may have. */
enum { WORDS_MAX = 64 };
typedef char Word[32];

/* Takes a sentence apart at blanks, tabs and newlines, leaves commas out,
 * and returns the number of words. Refuses a sentence with no words, or
 * with more than fit, and a word that is too long.
 * Python: sentence.replace(',', '').split(). */
int split_words(const char *sentence, Word word[WORDS_MAX]);

/* The different words, in the order of their bytes; returns their number.
 * Python: sorted(set(words)). */
int build_vocabulary(int n, const Word word[n], Word entry[n]);

/* Each word's position in the vocabulary. Refuses a word that has none. */
void word_ids(int n, const Word word[n], int size, const Word entry[size],
              int ids[n]);

/* Looks ids up: row i of x is row ids[i] of the table. Refuses an id that
 * is no row. PyTorch: F.embedding(ids, table). */
void embed(int n, int d, int rows, const int ids[n],
           const float table[rows][d], float x[n][d]);

/* The six vectors of "Life is short, eat dessert first": rows of a table of
 * 50,000 that seed 123 has filled.
 * PyTorch: torch.manual_seed(123), nn.Embedding(50_000, 3)(ids). */
extern const float life[6][3];

/* As embed, by way of a matrix product with one-hot rows.
 * PyTorch: F.one_hot(ids, rows).float() @ table. */
void embed_one_hot(int n, int d, int rows, const int ids[n],
                   const float table[rows][d], float one_hot[n][rows],
                   float x[n][d]);
