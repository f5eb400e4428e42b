/* Prints the tasks of a chapter's worksheets, with their answers:
 *
 *     build/tools/worksheet 03 7 30
 *
 * for 30 copies with numbers from seed 7. What is printed says worksheet.h.
 * The first 1,000 draws from the seed are for the copies of chapter 0, if
 * there were one, the next for those of chapter 1, and so on: each is the
 * seed of a copy, which so is the same however many others there are. */
#include "worksheet.h"

enum { COPIES = 1000 };

static const struct {
    const char *chapter;
    void (*tasks)(Random *r);
} of[] = {{"01", tasks_01}, {"02", tasks_02}, {"03", tasks_03},
          {"04", tasks_04}, {"05", tasks_05}, {"06", tasks_06},
          {"07", tasks_07}, {"08", tasks_08}, {"09", tasks_09},
          {"10", tasks_10}, {"11", tasks_11}, {"12", tasks_12},
          {"13", tasks_13}, {"14", tasks_14}};
enum { CHAPTERS = sizeof of / sizeof *of };

static int chapter_named(const char *name)
{
    for (int k = 0; k < CHAPTERS; k++)
        if (!strcmp(of[k].chapter, name))
            return k;
    REFUSE("there is no worksheet for CHAPTER '%s': there is one for each "
           "from %s to %s",
           name, of[0].chapter, of[CHAPTERS - 1].chapter);
}

static int worksheets(int argc, char *argv[])
{
    if (argc != 4)
        REFUSE("%d arguments: a chapter, a seed and a number of copies are "
               "needed, as in 03 7 30",
               argc - 1);
    const int k = chapter_named(argv[1]);
    const uint64_t seed = parse_integer("SEED", argv[2], 0, UINT32_MAX);
    const int copies = (int)parse_integer("COPIES", argv[3], 1, COPIES - 1);
    Random seeds = random_seeded(seed);
    for (int skipped = 0; skipped <= (k + 1) * COPIES; skipped++)
        random_u32(&seeds);
    for (int copy = 1; copy <= copies; copy++) {
        Random r = random_seeded(random_u32(&seeds));
        printf("sheet\t%d-%" PRIu64 "-%d\n", atoi(argv[1]), seed, copy);
        of[k].tasks(&r);
    }
    return 0;
}

int main(int argc, char *argv[])
{
    return run_program(worksheets, argc, argv);
}
