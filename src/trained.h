/* What `make train` has written: its sizes, the machine, the day, and rows. */
/* clang-format off */
#define TRAINED_RUN {500, 16, 128, 160, 5, 3}
#define TRAINED_ON "AMD EPYC, 2 threads"
#define TRAINED_AT "2026-11-22"
#define TRAINED_SECONDS 860
#define TRAINED_PACE 1318

static const TrainedRow rows[] = {
    {1, 4.93349552f, 4.7675066f, "The z{$\".r\?y!VR})\?g((V\?7).nH\?\?MT\?i}Z\?L\?a|\?L.**Yi\?\?\?(<\?E\?\?^Y\"\?)'1Y\?\?\?\?\?C#y\?\?}\?[\?\?&<BB\?\?\?l`1\"Q\?s{\?xO\?sjU|Y\?$\?\?\?23U\\\?.u\?Q7\?G}aE\?k\"x"},
    {50, 3.02660203f, 2.55294681f, "The wr a ory of is l t an. thand ithe, ar wr* ik an hathers t wich and Theris t d n s s ad\", s the seris toly23.. fun at *an kex"},
    {100, 2.50016785f, 2.48256373f, "The win boryThe is pro whing f Thit t, are caris 2) hat iore ) s w asstry ine t f n for ad\"A s the sarimorollley s.|Ting *as kex"},
    {150, 2.44334006f, 2.44257832f, "The wr a ror t fis p thes. thand it t, are t ris at oralulo t wie t as ry ris t d n ior ad\"S s the sas at olenesas. dinithas kex"},
    {200, 2.39818597f, 2.42475104f, "The s, a rorond ing so an. thand it t, are t *Yuthe ord ids\")). it aseary gre t f n se l d\"Sts the sareatholeney. fuma it* s ke "},
    {250, 2.35529041f, 2.3395021f, "The sor bof inghe gle ses. Thand it t, are te is an oralind t withe as ry ine t fon is lanches the sanemorolene as. The teas kex"},
    {300, 2.21109748f, 2.13824701f, "The wor bof ing is proch wary andits and breariide what its the it and ry ine the nofor anexts the sar aneminds. Sthe are an kex"},
    {350, 1.99085033f, 1.97443235f, "The sis bof in firs is an. The thile a are the is of a the a is it a slopugies the of slad\", sumbe say andomens. Stunt ine sext "},
    {400, 1.85059142f, 1.86386979f, "The word rows the ginthes. There its too|Wits is an of till time words rits. So for is las the the samer toll sof funt it a prow"},
    {450, 1.74764752f, 1.78220177f, "The sing of the is proden. The thing to be cas is of a times in is and rigrst the nothe such sizes sames ame leves. The that kex"},
    {500, 1.65283239f, 1.74531054f, "The side rows the givise. The and the one words for of the the sentenstries. So for the the the so same of is sof function sprow"},
};
