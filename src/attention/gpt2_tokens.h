/*
## GPT-2's tokens: `gpt2_tokens.c` {#header-gpt2-tokens}
*/

#pragma once

#include <stddef.h>

/* Two tokens that are merged into one, and how many merges come before. */
typedef struct {
    int left, right, whole, number;
} Gpt2Merge;

/* GPT-2's tokens, or others of its kind: pieces of text, byte by byte.
 * `gpt2_tokens_free` frees its memory. */
typedef struct {
    int vocabulary;   /* so many tokens */
    char *bytes;      /* of all tokens, one after another */
    size_t *start;    /* where each one's begin, and all end */
    int byte_id[256]; /* the token of each single byte */
    int end_of_text;  /* "<|endoftext|>", or -1 */
    int merges;       /* so many merges, */
    Gpt2Merge *merge; /* sorted by left and right */
} Gpt2Tokens;

/* Reads the vocabulary from vocab.json and merges.txt in a folder, or,
 * where one of them is missing, from tokenizer.json. vocab.json has the id
 * of each token, and merges.txt a merge in each line, the first one to be
 * made first; a first line that begins with "#version" is passed over. In
 * tokenizer.json a merge is "a b" or ["a", "b"]; tokens in its
 * "added_tokens" are never made from text, as "<|endoftext|>" never is.
 *
 * Refuses files that cannot be read or are no JSON; a name twice, an id
 * twice, and ids that are not 0, 1, 2, ..., each once; a character that
 * stands for no byte, and a byte that no token has alone; no merges, a line
 * that is not two names, a pair twice, a merge of names or into a name that
 * the vocabulary does not have, or that is never made from text; and a
 * tokenizer.json of another kind: one that is no "BPE", drops merges or
 * goes without them, has a prefix, a suffix, a "normalizer", or a
 * "pre_tokenizer" that is not "ByteLevel", does not split the text, or adds
 * a blank in front of it.
 * Source: Radford et al., Language Models are Unsupervised Multitask
 * Learners (2019), 2.2, and get_encoder of its encoder.py.
 * PyTorch: GPT2TokenizerFast.from_pretrained, of transformers. */
void gpt2_tokens_read(Gpt2Tokens *t, const char *folder);

/* The ids of a text's tokens: how many there are is returned, and the first
 * ones, at most so many, are written to `ids`, which may be NULL if that is
 * 0. The text is split by GPT-2's pattern into words with a space before
 * them, numbers, other signs and white space, and the bytes of each piece
 * are merged: always the pair whose merge comes first, and of equal pairs
 * the leftmost one.
 * Letters and numbers are those of the version of Unicode that
 * src/support/unicode_kinds.h names. A byte that is not UTF-8 counts as a
 * sign, as the U+FFFD does with which others replace it; but here it stays
 * the byte that it is. "<|endoftext|>" in a text is text like any other.
 * A text may have no bytes, and bytes 0. Refuses more than INT_MAX bytes.
 * Source: encode of GPT-2's encoder.py; encode_ordinary of tiktoken.
 * PyTorch: tokenizer(text).input_ids. */
int gpt2_tokens_encode(const Gpt2Tokens *t, size_t bytes, const char *text,
                       int most, int ids[]);

/* The bytes of n tokens: how many there are is returned, and the first
 * ones, at most so many, are written to `text`, which may be NULL if that
 * is 0. No 0 is written after them. One token's bytes need not be UTF-8.
 * Refuses an id that is not from 0 to `vocabulary` - 1.
 * Source: decode_bytes of tiktoken.
 * PyTorch: tokenizer.decode(ids). */
size_t gpt2_tokens_decode(const Gpt2Tokens *t, int n, const int ids[],
                          size_t most, char text[]);

/* The id of "<|endoftext|>", which comes between texts. Refuses a
 * vocabulary without it.
 * PyTorch: tokenizer.eos_token_id. */
int gpt2_tokens_end_of_text(const Gpt2Tokens *t);

/* Gives the memory back; may be called twice. */
void gpt2_tokens_free(Gpt2Tokens *t);
