#!/usr/bin/env perl
# Grading holds against what submissions do: a right one gets all points, whatever
# it is called and however it is written; what is not solved gets none, whatever it
# does to look solved, to stop others, or to reach what is not its own.

use strict;
use warnings;
use utf8;
use Digest::SHA;
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use Time::HiRes qw(time);
use lib 'tools';
use Assignment;
use Chapter;
use Grader;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $folder = tempdir(CLEANUP => 1);
make_path($ENV{TMPDIR} = "$folder/tmp");
chmod 0711, $folder;
my ($chapter) = map { Chapter->load($_) } 'chapters/02_softmax.c';
my @exercises = grep { $_->{function} } @{$chapter->{exercises}};
my $how = Grader::how();
my %assignment = (name => 'scores', seconds => 20, test_seconds => 1,
    exercises => [map { {%$_, chapter => '02'} } @exercises]);

# A submission's folder: the chapter with these lines in the place of softmax's first
# ones, and these in front of all its code.
my $count = 0;
sub submission {
    my (%with) = @_;
    my @lines = $with{solved} ? @{$chapter->{lines}} : $chapter->emptied(@exercises);
    my ($open) = $chapter->body('softmax');
    $lines[$open + 1] = $with{body} . ($with{solved} ? "\n$lines[$open + 1]" : '') if defined $with{body};
    my ($include) = grep { $lines[$_] =~ /^#include "attention\.h"/ } 0 .. $#lines;
    $lines[$include] .= "\n$with{code}" if defined $with{code};
    my $work = "$folder/" . ($with{folder} // 'work' . $count++);
    make_path("$work/chapters");
    Chapter::save("$work/chapters/02_softmax.c", @lines);
    return $work;
}

# What comes of it: states, score, seconds.
sub graded {
    my ($work) = @_;
    my $begun  = time;
    my $result = Grader::grade($how, \%assignment, $work);
    return ($result, time - $begun);
}
sub states { return join ' ', map { $_->{state} } @{$_[0]{exercises}} }
sub message { return $_[0]{exercises}[0]{message} }

# What must stay as it is: everything that is not the submission's.
sub sums { return map { ($_ => eval { Digest::SHA->new(1)->addfile($_)->hexdigest } // '') }
      glob 'golden/* tests/*.[cht] src/* chapters/*.c Makefile tools/* tools/grader/*' }
my %before = sums();

# ---- What is right, and what is not there.

my ($result, $seconds) = graded(submission(solved => 1));
is states($result), 'done done done', 'a right submission';
is "$result->{score} of $result->{max}", '10 of 10', '... has all points';
($result) = graded(submission(solved => 1, folder => "it's \"a\"\n\$(touch x) name"));
is $result->{score}, 10, '... in a folder of any name';
($result) = graded(submission(solved => 1,
    code => "#include <stdlib.h>\n#include <stdio.h>\n__attribute__((unused)) static float *mine;",
    body => '    printf("debug"); fprintf(stderr, "%d", n); free(calloc(3, 7)); if (n < 1) REFUSE("my own words");'));
is $result->{score}, 10, '... that prints and asks for memory';
($result) = graded(submission(solved => 1, code => "#include <threads.h>\n#include <unistd.h>\n"
    . "static int order(const void *a, const void *b)\n{\n    return *(const char *)a - *(const char *)b;\n}",
    body => '    char many[5000] = {0}; qsort(many, 500, 10, order); isatty(1); thrd_sleep(&(struct timespec){.tv_nsec = 9}, NULL);'));
is $result->{score}, 10, '... that sorts, sleeps, and asks for a terminal';
my $odd = <<'C';
/*
# 1 line: include a sum
#include "attention.h"
# line up
*/ // don't; TODO(2.1); 'asm' __asm__ "
#include <string.h>
__attribute__((unused)) static const char *odd = "__asm__('asm') .incbin \"x\" /* // # \\";
C
for (['lines that end as on Windows', '', sub { return $_[0] =~ s/\n/\r\n/gr }],
     ['a byte order mark', '', sub { return "\x{FEFF}$_[0]" }],
     ['all sorts of things in comments and strings', $odd, sub { return $_[0] }]) {
    my ($what, $code, $change) = @$_;
    my $path = submission(solved => 1, code => $code) . '/chapters/02_softmax.c';
    Chapter::save($path, split /\n/, $change->(join "\n", Grader::lines_of($path)));
    ($result) = graded($path =~ s{/chapters/.*}{}r);
    is $result->{score}, 10, "... with $what" or diag $result->{compiled}{'02'};
}
($result) = graded(submission());
is states($result), 'empty empty empty', 'an empty one is called so';
is $result->{score}, 0, '... and has none';
($result) = graded(submission(body => '    (void)scores; for (int i = 0; i < n; i++) weights[i] = 1.0f / (float)n;'));
is states($result), 'wrong empty empty', 'a wrong one';
like message($result), qr/^softmax: \w+: weights\[0\].*: 0\.\d+ where 0\.\d+ is due/, '... is told what is wrong';
($result) = graded(submission(solved => 1, body => '    float none; weights[0] = none; weights[n - 1] = none; return;'));
is states($result), 'wrong done done', 'a variable without a value';
make_path("$folder/none");
($result) = graded("$folder/none");
is states($result), 'missing missing missing', 'a folder with nothing in it';
like message($result), qr/^there is no 02_softmax\.c/, '... which is said';
my $bare = submission(solved => 1);
rename "$bare/chapters/02_softmax.c", "$bare/02_softmax.c";
is((graded($bare))[0]{score}, 10, 'a chapter by itself');

SKIP: {
    skip 'who is not root starts what is in folders of their own', 1 if $> != 0;
    chmod 0700, $folder;
    eval { graded(submission(solved => 1)) };
    like $@, qr/^submissions cannot be run here/, 'where nothing can be run, nobody is blamed';
    chmod 0711, $folder;
}

# ---- Attacks. For each: what stands in softmax's body, what before, and what is said.

my $golden = "$ENV{PWD}/golden/02_softmax.safetensors";
my $root = $ENV{PWD};
my @attacks = (
    ['a loop without end', 'for (;;) ;', '', qr/no end in 1 s/],
    ['one that prints', 'for (;;) puts("ok 1 - softmax: masked");', '#include <stdio.h>', qr/no end in 1 s/],
    ['a recursion', 'volatile float a[99]; softmax(n + 1, scores, weights); a[0] = 1;', '', qr/Segmentation fault/],
    ['a crash', '*(volatile int *)0 = 1;', '', qr/Segmentation fault/],
    ['an array of its own overrun', 'volatile char a[8]; for (int i = 0; i < 99; i++) a[i] = 1;', '', qr/Aborted|Segmentation/],
    ['the heap overrun', 'char *a = malloc(20); for (int i = 0; i < 40; i++) ((volatile char *)a)[i] = 1; free(a);', '', qr/Segmentation|Aborted/],
    ['the result overrun', 'for (int i = 0; i < n + 1; i++) weights[i] = 0;', '', qr/Segmentation/],
    ['scores overrun', 'float s = 0; for (int i = 0; i < n + 9; i++) s += scores[i]; weights[0] = s;', '', qr/Segmentation/],
    ['all memory', 'for (;;) { volatile char *a = malloc(1 << 24); for (int i = 0; i < 1 << 24; i += 4096) a[i] = 1; }', '', qr/Segmentation|no end/],
    ['processes', 'for (;;) fork();', '#include <unistd.h>', qr/Bad system call/],
    ['a thread bomb', 'for (;;) { pthread_t t; pthread_create(&t, NULL, loops, NULL); }',
        "#include <pthread.h>\nstatic void *loops(void *x) { for (;;) ; return x; }", qr/no end|Segmentation|Bad/],
    ['a file written', qq{fclose(fopen("$folder/written", "w"));}, '', qr/Segmentation|Bad system/],
    ['a file removed', qq{remove("$folder/none");}, '', qr/Bad system call/],
    ['golden data read', qq{FILE *f = fopen("$golden", "rb"); fread(weights, 4, (size_t)n, f);}, '', qr/Segmentation|Bad/],
    ['golden data by the reader', qq{Tensors t = tensors_read("$golden"); memcpy(weights, t.tensor[0].data, (size_t)n * 4);}, '',
        qr/status|refused|cannot be opened/],
    ['exit(0)', 'exit(0);', '', qr/ended by itself, with status 0/],
    ['_exit(0)', '_exit(0);', '#include <unistd.h>', qr/ended by itself, with status 0/],
    ['quick_exit and atexit', 'atexit(bye); exit(1);', "#include <unistd.h>\nstatic void bye(void) { _exit(0); }", qr/ended by itself/],
    ['TAP of its own', 'printf("\nok 1 - softmax: masked\nok 2 - mix: all\n1..2\n"); fflush(stdout); _exit(0);', '#include <unistd.h>',
        qr/ended by itself/],
    ['standard output closed', 'close(1); close(2); weights[0] = 1;', '#include <unistd.h>', qr/where/],
    ['the judge answered to at once', 'char a[4096] = {0}; write(4, a, sizeof a); _exit(0);', '#include <unistd.h>', qr/./],
    ['an answer of the right form', 'uint64_t a[4000] = {0x61747465}; write(4, a, sizeof a); for (;;) ;', '#include <unistd.h>', qr/./],
    ['before main', 'weights[0] = 0;', qq{#include <unistd.h>\n__attribute__((constructor)) static void early(void) { puts("ok 1 - softmax: all\\n1..1"); _exit(0); }},
        qr/./],
    ['before what is before main', 'weights[0] = 0;', qq{#include <unistd.h>\nstatic void early(void) { fork(); }\n}
        . qq{__attribute__((section(".preinit_array"), used)) static void (*p)(void) = early;}, qr/Bad system call/],
    ['longjmp', 'longjmp(place, 1);', "#include <setjmp.h>\nstatic jmp_buf place;", qr/./],
    ['signals', 'kill(getppid(), SIGKILL); kill(-1, SIGKILL);', "#include <signal.h>\n#include <unistd.h>", qr/Bad system call/],
    ['what waits without working', 'char a; read(3, &a, 1); weights[0] = 0;', '#include <unistd.h>', qr/no end in 1 s/],
    ['a terminal\'s commands', 'fputs("x\\033]0;y\\007", stderr); abort();', '', qr/\A[^\e\a]*Aborted[^\e\a]*\z/],
    ['a stop', 'raise(SIGSTOP); for (;;) ;', '#include <signal.h>', qr/no end|Bad/],
    ['no alarm', 'alarm(0); for (;;) ;', '#include <unistd.h>', qr/Bad system call/],
    ['signals ignored', 'for (int i = 1; i < 64; i++) signal(i, SIG_IGN); for (;;) ;', '#include <signal.h>', qr/no end/],
    ['a program', 'execl("/bin/sh", "sh", "-c", "echo ok 1 - softmax", (char *)0); weights[0] = 1;', '#include <unistd.h>', qr/./],
    ['a shell', 'system("touch written");', '', qr/Bad system call|where/],
    ['another instruction set\'s calls', 'int (*call)(int, unsigned, unsigned) = (void *)code; call(5, (unsigned)(uintptr_t)path, 0);',
        qq{static char path[] = "$golden";\n__attribute__((section(".text#"))) static const unsigned char code[] = }
        . '{0x53, 0x89, 0xf8, 0x89, 0xf3, 0x89, 0xd1, 0x31, 0xd2, 0xcd, 0x80, 0x5b, 0xc3};', qr/Bad system call|Illegal|Segmentation/],
    ['a limit for another process', 'struct rlimit none = {0, 0}; prlimit(1, RLIMIT_CPU, &none, NULL);', '#include <sys/resource.h>', qr/Bad system call/],
    ['a fellow student\'s program', 'weights[0] = 0;', qq{#include <unistd.h>\n__attribute__((constructor)) static void early(void) }
        . '{ char *none[] = {NULL}; execve("/proc/self/exe", none, none); }', qr/Bad system call/],
    ['the place in front of the result', 'weights[-1] = 0;', '', qr/Aborted/],
    ['the place in front of what is given', 'for (int i = 0; i < n; i++) weights[i] = scores[i - 1];', '', qr/beyond the ends/],
    ['what memory held before', 'float *mine = malloc((size_t)n * 4); for (int i = 0; i < n; i++) weights[i] = mine[i];', '', qr/where/],
    ['a network', 'socket(2, 1, 0);', '#include <sys/socket.h>', qr/Bad system call/],
    ['the library\'s place for the solution', 'void *all = dlopen(0, 2); *(void **)&all = dlsym(all, "softmax_given"); weights[0] = 1;',
        '#include <dlfcn.h>', qr/./],
);
for my $attack (@attacks) {
    my ($what, $body, $code, $words) = @$attack;
    my ($result, $seconds) = graded(submission(body => "    (void)n, (void)scores, (void)weights; $body",
        code => "#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <stdint.h>\n$code"));
    is $result->{score}, 0, "$what: no point" or diag explain [map { "$_->{id} $_->{state} $_->{message}" } @{$result->{exercises}}];
    like message($result), $words, '... and it is said why';
    cmp_ok $seconds, '<', 25, '... in its time';
}

# ---- What is not compiled at all.

for (['the solution included', qq{#include "$root/chapters/02_softmax.c"}, qr/^does not compile: it includes/],
     ['... by its place', qq{#include "../chapters/02_softmax.c"}, qr/^does not compile: it includes/],
     ['a file without end', '#include "/dev/zero"', qr/^does not compile/],
     ['golden data by the assembler', qq{__asm__(".incbin \\"$golden\\"");}, qr/^does not compile: it has assembler/],
     ['assembler behind a name', "#define A __asm\n#define B A__\n__asm__ (\"nop\");", qr/^does not compile: it has assembler/],
     ['the solution as a header of C', qq{#include <../..$root/chapters/02_softmax.c>}, qr/^does not compile: it includes/],
     ['... written otherwise', qq{/*\n*/ ??=in\\\nclude /* */ "/proc/self/cwd/chapters/02_softmax.c"}, qr/^does not compile: it includes/],
     ['... behind a name', qq{#define A <../../proc/self/cwd/chapters/02_softmax.c>\n#include A}, qr/^does not compile: it includes/],
     ['... shown by a message', qq{#pragma GCC poison float\n#include "$root/chapters/02_softmax.c"}, qr/^does not compile: it includes/],
     ['another file\'s name', qq{#line 1 "/usr/include/x.h"\n__asm__(".incbin \\"$golden\\"");}, qr/^does not compile: it has assembler/],
     ['C\'s own header\'s name', qq{# 1 "/usr/include/x.h" 1 3}, qr/^does not compile: it names/],
     ['golden data by a section', qq{__attribute__((section(".x,\\"a\\"\\n.incbin \\"$golden\\"\\n#"))) int x = 3;}, qr/^does not compile: it has assembler/],
     ['... with odd quotes', qq{__attribute__((section(".x\\n.byte '\\"; .incbin \\"$golden\\"; .byte '\\"\\n#"))) int x = 3;},
         qr/^does not compile: it has assembler/],
     ['a terminal\'s commands', "#error \e[2J\e]0;x\a", qr/^does not compile: [^\e\a]*error[^\e\a]*\z/],
     ['a main of its own', "#undef main\nint main(void) { return 0; }\n#define main other", qr/^does not compile/],
     ['the runner\'s functions', 'void *malloc(unsigned long n) { (void)n; return 0; }', qr/^does not compile: .*multiple definition/],
     ['a table of functions', '#include "remote.h"', qr/^does not compile/],
     ['no C', 'this is no C', qr/^does not compile: .*error/]) {
    my ($what, $code, $words) = @$_;
    my ($result, $seconds) = graded(submission(solved => 1, code => $code));
    is $result->{score}, 0, "$what: no point";
    like message($result), $words, '... and it is said why';
    cmp_ok $seconds, '<', 25, '... in its time';
}

# ---- Folders that are not as they should be.

my $work = submission(solved => 1);
rename "$work/chapters/02_softmax.c", "$work/real.c";
symlink "$root/chapters/02_softmax.c", "$work/chapters/02_softmax.c";
like message((graded($work))[0]), qr/is a link/, 'a link to the solution';
$work = submission(solved => 1);
remove_tree("$work/chapters");
symlink "$root/chapters", "$work/chapters";
like message((graded($work))[0]), qr/is a link/, 'a link to all solutions';
$work = submission();
truncate "$work/chapters/02_softmax.c", 100_000_000;
like message((graded($work))[0]), qr/has 100000000 bytes/, 'a file of 100 MB';
$work = submission();
Chapter::save("$work/chapters/02_softmax.c", map { join '', map { chr int rand 256 } 1 .. 200 } 1 .. 100);
like message((graded($work))[0]), qr/does not compile/, 'a file of bytes';
$work = submission();
unlink "$work/chapters/02_softmax.c";
system 'mkfifo', "$work/chapters/02_softmax.c";
like message((graded($work))[0]), qr/no file/, 'a pipe';
$work = submission();
make_path("$work/tests", "$work/golden", "$work/src");
Chapter::save("$work/tests/02_softmax.c", '#include <stdio.h>', 'int main(void) { puts("1..1\nok 1 - softmax: all"); return 0; }');
Chapter::save("$work/Makefile", 'all grade test:', "\ttouch $folder/made");
Chapter::save("$work/src/attention.h", '#define TODO(x) (void)0');
Chapter::save("$work/golden/02_softmax.safetensors", '');
is states((graded($work))[0]), 'empty empty empty', 'tests, Makefile, header and golden data of its own are not looked at';

is_deeply {sums()}, \%before, 'nothing else has changed';
ok !-e "$folder/$_", "... nothing was $_" for qw(written made);
ok !-e 'x', '... no name was a command';
is join('', grep { m{\Q$folder\E/tmp/} } `ps -eo args`), '', '... and no process is left';

done_testing;
