/* The program of a chapter: it calls the chapter's main, which the Makefile
 * has compiled under a name of its own, main_07, say. So all chapters can be
 * linked with one another. */
int MAIN(int argc, char *argv[]);

int main(int argc, char *argv[])
{
    return MAIN(argc, argv);
}
