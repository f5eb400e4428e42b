#include "attention/agreement.h"
#include "attention/20_optimizers.h"
#include "support.h"

/* The sentences of chapter 21's second task, each made from its number. */

const char *const agreement_word[AGREEMENT_WORDS] = {
    "the",    "dog",    "dogs",  "cat",      "cats", "bird",  "birds",
    "mouse",  "mice",   "child", "children", "old",  "small", "near",
    "behind", "beside", "_",     "sleeps",   "sleep"};

/* What the number of a sentence chooses: the first of the two nouns, whether
 * it is more than one, and whether the second is; the preposition and the
 * adjective, and whether that comes before the first noun; and how many
 * nouns are between the two in their list. */
enum { NOUN, MANY, OTHER_MANY, PREPOSITION, ADJECTIVE, AT_FIRST, BETWEEN };
enum { CHOICES = BETWEEN + 1 };

/* Each choice is the remainder of a division, whose quotient makes the next
 * choices. */
static void choose(int number, int choice[CHOICES])
{
    static const int among[CHOICES] = {5, 2, 2, 3, 2, 2, 4};
    if (number < 0 || number >= AGREEMENTS)
        REFUSE("sentence %d: 0 to %d is needed", number, AGREEMENTS - 1);
    for (int k = 0; k < CHOICES; number /= among[k++])
        choice[k] = number % among[k];
}

void agreement_text(int number, int ids[AGREEMENT_LENGTH],
                    int target[AGREEMENT_LENGTH])
{
    enum { THE, DOG, OLD = 11, NEAR = 13, BLANK = 16, SLEEPS };
    int of[CHOICES];
    choose(number, of);
    const int second = (of[NOUN] + 1 + of[BETWEEN]) % 5;
    const int subject = DOG + 2 * of[NOUN] + of[MANY];
    const int other = DOG + 2 * second + of[OTHER_MANY];
    const int near = NEAR + of[PREPOSITION];
    const int old = OLD + of[ADJECTIVE];
    const int text[2][AGREEMENT_LENGTH] = {
        {THE, subject, near, THE, old, other, BLANK},
        {THE, old, subject, near, THE, other, BLANK}};
    for (int i = 0; i < AGREEMENT_LENGTH; i++) {
        ids[i] = text[of[AT_FIRST]][i];
        target[i] = ids[i] == BLANK ? SLEEPS + of[MANY] : IGNORED;
    }
}

int agreement_nouns_differ(int number)
{
    int of[CHOICES];
    choose(number, of);
    return of[MANY] != of[OTHER_MANY];
}
