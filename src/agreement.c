#include "attention/agreement.h"
#include "attention/20_optimizers.h"
#include "support.h"

/* The sentences of chapter 21's second task, each made from its number. */

const char *const agreement_word[AGREEMENT_WORDS] = {
    "the",    "dog",    "dogs",  "cat",      "cats", "bird",  "birds",
    "mouse",  "mice",   "child", "children", "old",  "small", "near",
    "behind", "beside", "_",     "sleeps",   "sleep"};

/* What the number of a sentence chooses. */
typedef struct {
    int noun;          /* the first of the two, one of 5 */
    int is_many;       /* whether it is more than one */
    int other_is_many; /* whether the second noun is */
    int preposition;   /* one of 3 */
    int adjective;     /* one of 2 */
    int at_first;      /* whether that stands before the first noun */
    int between; /* how many stand between the two in their list, 0 to 3 */
} Agreement;

/* One of so many; what is left of the number chooses what comes next. */
static int choose(int *number, int among)
{
    const int choice = *number % among;
    *number /= among;
    return choice;
}

static Agreement agreement_of(int number)
{
    Agreement of;
    if (number < 0 || number >= AGREEMENTS)
        REFUSE("sentence %d: 0 to %d is needed", number, AGREEMENTS - 1);
    of.noun = choose(&number, 5);
    of.is_many = choose(&number, 2);
    of.other_is_many = choose(&number, 2);
    of.preposition = choose(&number, 3);
    of.adjective = choose(&number, 2);
    of.at_first = choose(&number, 2);
    of.between = choose(&number, 4);
    return of;
}

void agreement_text(int number, int ids[AGREEMENT_LENGTH],
                    int target[AGREEMENT_LENGTH])
{
    enum { THE, NOUN, ADJECTIVE = 11, PREPOSITION = 13, BLANK = 16, VERB };
    const Agreement of = agreement_of(number);
    const int second = (of.noun + 1 + of.between) % 5;
    const int subject = NOUN + 2 * of.noun + of.is_many;
    const int other = NOUN + 2 * second + of.other_is_many;
    const int near = PREPOSITION + of.preposition;
    const int old = ADJECTIVE + of.adjective;
    const int text[2][AGREEMENT_LENGTH] = {
        {THE, subject, near, THE, old, other, BLANK},
        {THE, old, subject, near, THE, other, BLANK}};
    for (int i = 0; i < AGREEMENT_LENGTH; i++) {
        ids[i] = text[of.at_first][i];
        target[i] = ids[i] == BLANK ? VERB + of.is_many : IGNORED;
    }
}

int agreement_nouns_differ(int number)
{
    const Agreement of = agreement_of(number);
    return of.is_many != of.other_is_many;
}
