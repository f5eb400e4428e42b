#include "attention/long_run.h"
#include "attention/20_optimizers.h"
#include "support.h"

/* The long run of chapter 23: its sizes, how it begins, and what its log
 * compares it with. The run itself is a program, tools/measure/train.c. */

const GptTraining gpt_long_run = {.steps = 14000,
                                  .texts = 16,
                                  .model = {.vocabulary = 128,
                                            .context_length = 128,
                                            .width = 160,
                                            .n_heads = 5,
                                            .layers = 3}};

void gpt_run_init(GptTraining *t, const GptTraining *sizes,
                  const PlainText *text)
{
    GptTraining own = *sizes;
    own.adam = (Adam){0, 0.9, 0.99, 1e-8, 0.1, 0};
    own.bytes = text->length;
    own.text = text->bytes;
    own.random = random_seeded(123);
    gpt_training_init(t, &own);
}

void gpt_run_batch(GptTraining *t, int *ids, int *targets)
{
    t->adam.learning_rate =
        rate_at(t->step, t->steps / 10, t->steps, 4e-3, 1e-4);
    gpt_training_batch(t, ids, targets);
}

/* For each byte of the text and each of the source: how far do both agree
 * from there on? A copy that is longer than the longest so far also agrees
 * in the byte at `longest` from its start. memchr finds the next such byte
 * of the source, and the copy begins so many bytes in front of it. */
int longest_copy(int n, const char text[n], int m, const char source[m],
                 int *first)
{
    int longest = 0;
    *first = 0;
    for (int i = 0; i + longest < n; i++)
        for (int j = 0; i + longest < n && j + longest < m; j++) {
            const char *next =
                memchr(source + j + longest, text[i + longest],
                       (size_t)(m - j - longest));
            if (!next)
                break;
            j = (int)(next - source) - longest;
            int k = 0;
            while (i + k < n && j + k < m && text[i + k] == source[j + k])
                k++;
            if (k > longest) {
                longest = k;
                *first = i;
            }
        }
    return longest;
}

void table_losses(const PlainText *text, int n, float loss[2])
{
    enum { ASCII = 128 };
    static int single[ASCII], pair[ASCII][ASCII];
    const char *byte = text->bytes;
    double sum[2] = {0};
    if (n < 2 || n >= text->length)
        REFUSE("the first %d bytes, of a text of %d: from 2 to %d are "
               "needed",
               n, text->length, text->length - 1);
    memset(single, 0, sizeof single);
    memset(pair, 0, sizeof pair);
    for (int i = 0; i + 1 < text->length; i++) {
        single[(int)byte[i]]++;
        pair[(int)byte[i]][(int)byte[i + 1]]++;
    }
    for (int i = 0; i + 1 < n; i++) {
        const int was = byte[i], is = byte[i + 1];
        sum[0] -= log((double)single[is] / text->length);
        sum[1] -= log((double)pair[was][is] / single[was]);
    }
    for (int k = 0; k < 2; k++)
        loss[k] = (float)(sum[k] / (n - 1));
}
