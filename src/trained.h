/* What `make train` has written: its sizes, the machine, the day, and rows. */
/* clang-format off */
#define TRAINED_RUN {.steps = 500, .texts = 16, .model = {.vocabulary = 128, .context_length = 128, .width = 160, .n_heads = 5, .layers = 3}}
#define TRAINED_ON "AMD EPYC, 2 threads"
#define TRAINED_AT "2026-11-22"
#define TRAINED_SECONDS 139
#define TRAINED_TOKENS_PER_SECOND 8848

const float trained_losses[][3] = {
    {1, 4.76237583f, 4.76722908f},
    {50, 2.50467849f, 2.54817557f},
    {100, 2.43788600f, 2.48600268f},
    {150, 2.39125323f, 2.44493771f},
    {200, 2.32779479f, 2.40165377f},
    {250, 2.19390512f, 2.27039313f},
    {300, 1.96539915f, 2.05585098f},
    {350, 1.79604495f, 1.89745533f},
    {400, 1.67175949f, 1.79839957f},
    {450, 1.59309554f, 1.72653258f},
    {500, 1.54886377f, 1.69268823f},
};
const char *const trained_samples[] = {
    "The q{$\".r\?y!VR}F\?g((V\?7).nH\?\?MT\?i}Z\?L\?a|\?L.**Yi\?\?\?(<\?E\?\?^Y\"\?)'1Y\?\?\?\?\?C#y\?\?}\?[\?\?&<BB\?\?\?l`1\"Q\?s{\?xO\?sjU|Y\?$\?\?\?23U\\\?.u\?Q7\?G}aE\?k1x",
    "The win brs The is p t an. t f Thite anar w w iid oworaluis t withan, try ris t d n s w ad\"1 s the s wis tolens as. d ar aas k w",
    "The wis ors The is l thes. thand ithe, are ts is co oralulof its w ass ry che the n s s a \" ts the san atholeneyos. ma ithas s w",
    "The wit bonyThe is pro an. thand ithe, are t* is cowhad ind t withe astry inenthe n for ad\" ts the sangiomoleney. fumanindas ke ",
    "The wis bonyThe is lof an. thand it t, arer * is an oralind t withanus ricerent f n is lad\"A s the saneat oleney s. ma ithas kex",
    "The sor bof ing is prof s. Thand it theare car ide what its thas man, thicthe the nof slad\". s Ifors in oroleds as an aitkes k w",
    "The sira rows, fith it and the hater a are the ide what is a its way, thices a the of slad\" the so sare of is seds. That ake kex",
    "The with row of it lis any the hast tabargr. *Hide what is* tike way sloy gish to no of the the lowser and is seas. Ting *as kex",
    "The sid brow:|Shomel the way fided that be two it othos is a in it a sloput. So for is lad\" the so same oncleds as and its sprow",
    "The side rows, and proces. The has that reads is an has is a is it a sloper. The in sever \"Ats the same ofter sens. Theire sprow",
    "The side row the see scores. What les, and the is of a listep with a sloper. The ra is lasch sum besides to andom funt its seect",
};
