/*
## Sentences whose verbs agree: `agreement.c` {#header-agreement}
*/

#pragma once

/* Each number is a sentence of a small grammar, such as "the dogs near the
 * old cat _", and the verb that fits its subject is the target of the
 * blank, the last token; the others' are IGNORED. Those from
 * AGREEMENTS_TAUGHT on are for trying what was learned. Refuses a number
 * that is not from 0 to AGREEMENTS - 1. */
enum {
    AGREEMENTS = 960,
    AGREEMENTS_TAUGHT = 720,
    AGREEMENT_WORDS = 19,
    AGREEMENT_LENGTH = 7
};
void agreement_text(int number, int ids[AGREEMENT_LENGTH],
                    int target[AGREEMENT_LENGTH]);

/* The words, by their ids. */
extern const char *const agreement_word[AGREEMENT_WORDS];

/* Whether one of a sentence's nouns is singular and the other plural.
 * Refuses what agreement_text refuses. */
int agreement_nouns_differ(int number);
