#!/usr/bin/env perl
# Grading holds against what submissions do: a right one gets all points, whatever
# it is called and however it is written; what is not solved gets none, whatever it
# does to look solved, to stop others, or to reach what is not its own.

use strict;
use warnings;
use utf8;
use Digest::SHA;
use File::Basename qw(dirname);
use File::Copy qw(cp);
use File::Glob qw(bsd_glob);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use Assignment;
use Chapter;
use Diagnosis;
use Grader;
use Headers;
use State;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $folder = tempdir(CLEANUP => 1);
make_path($ENV{TMPDIR} = "$folder/tmp");
chmod 0711, $folder;
my ($chapter) = map { Chapter->load($_) } 'chapters/02_softmax.c';
my @exercises = grep { $_->{function} } @{$chapter->{exercises}};
my $how = Grader::how();
my %assignment = (name => 'scores', seconds => 60, test_seconds => 10,
    exercises => [map { {%$_, chapter => '02'} } @exercises]);

# A submission's folder: the chapter with these lines in the place of softmax's first
# ones, and these in front of all its code; or with this text alone.
my $count = 0;
sub submission {
    my (%with) = @_;
    my @lines = $with{solved} ? @{$chapter->{lines}} : $chapter->emptied(@exercises);
    my ($open) = $chapter->body('softmax');
    $lines[$open + 1] = $with{body} . ($with{solved} ? "\n$lines[$open + 1]" : '') if defined $with{body};
    my ($include) = grep { $lines[$_] =~ m{^#include "attention/} } 0 .. $#lines;
    $lines[$include] .= "\n$with{code}" if defined $with{code};
    @lines = @{$with{text}} if $with{text};
    my $work = "$folder/" . ($with{folder} // 'work' . $count++);
    make_path("$work/chapters");
    Chapter::save("$work/chapters/02_softmax.c", @lines);
    return $work;
}

# What comes of it: states and score.
sub graded { return grade($_[0], %assignment, @_[1 .. $#_]) }
sub grade {
    my ($work, %assignment) = @_;
    my %text = Submission::texts([$work], Grader::chapters(\%assignment));
    return Grader::grade($how, \%assignment, \%text);
}
sub states { return join ' ', map { $_->{state} } @{$_[0]{exercises}} }
sub message { return $_[0]{exercises}[0]{message} }

# What must stay as it is: everything that is not the submission's.
sub sums { return map { ($_ => eval { Digest::SHA->new(1)->addfile($_)->hexdigest } // '') }
      glob 'golden/* tests/*.[cht] src/*.* src/*/* chapters/*.c Makefile tools/*/* tools/teach/grader/*' }
my %before = sums();

# ---- What is right, and what is not there.

my $result = graded(submission(solved => 1));
is states($result), 'done done done', 'a right submission';
is "$result->{score} of $result->{max}", '10 of 10', '... has all points';
$result = graded(submission(solved => 1, folder => "it's \"a\"\n\$(touch x) name"));
is $result->{score}, 10, '... in a folder of any name';
$result = graded(submission(solved => 1,
    code => "#include <stdlib.h>\n#include <stdio.h>\n__attribute__((unused)) static float *mine;",
    body => '    printf("debug"); fprintf(stderr, "%d", n); free(calloc(3, 7)); if (n < 1) REFUSE("my own words");'));
is $result->{score}, 10, '... that prints and asks for memory';
$result = graded(submission(solved => 1, code => "#include <stdio.h>\n#include <threads.h>\n#include <unistd.h>\n"
    . "static int order(const void *a, const void *b)\n{\n    return *(const char *)a - *(const char *)b;\n}",
    body => '    char many[5000] = {0}; qsort(many, 500, 10, order); isatty(1); perror("so"); thrd_sleep(&(struct timespec){.tv_nsec = 9}, NULL);'));
is $result->{score}, 10, '... that sorts, sleeps, asks for a terminal, and says what errno means';
my $odd = <<'C';
/*
# 1 line: include a sum
#include "attention.h"
# line up
*/ // don't; TODO(2.1); 'asm' __asm__ "
#include <string.h>
__asm__("nop");
__attribute__((unused)) static const char *odd = "__asm__('asm') .incbin \"x\" /* // # \\";
C
for (['lines that end as on Windows', '', sub { return $_[0] =~ s/\n/\r\n/gr }],
     ['a byte order mark', '', sub { return "\x{FEFF}$_[0]" }],
     ['all sorts of things in comments and strings', $odd, sub { return $_[0] }]) {
    my ($what, $code, $change) = @$_;
    my $path = submission(solved => 1, code => $code) . '/chapters/02_softmax.c';
    Chapter::save($path, split /\n/, $change->(join "\n", Grader::lines_of($path)));
    $result = graded($path =~ s{/chapters/.*}{}r);
    is $result->{score}, 10, "... with $what" or diag $result->{compiled}{'02'};
}
$result = graded(submission());
is states($result), 'empty empty empty', 'an empty one is called so';
is $result->{score}, 0, '... and has none';
$result = graded(submission(body => '    (void)scores; for (int i = 0; i < n; i++) weights[i] = 1.0f / (float)n;'));
is states($result), 'wrong empty empty', 'a wrong one';
like message($result), qr/^softmax: \w+: weights\[0\].*: 0\.\d+ where 0\.\d+ is due/, '... is told what is wrong';
$result = graded(submission(solved => 1, body => '    float none; weights[0] = none; weights[n - 1] = none; return;'));
is states($result), 'wrong done done', 'a variable without a value';
make_path("$folder/none");
$result = graded("$folder/none");
is states($result), 'missing missing missing', 'a folder with nothing in it';
like message($result), qr/^there is no 02_softmax\.c/, '... which is said';
my $bare = submission(solved => 1);
rename "$bare/chapters/02_softmax.c", "$bare/02_softmax.c";
is(graded($bare)->{score}, 10, 'a chapter by itself');

{
    my $usual = umask 077;
    is(graded(submission(solved => 1))->{score}, 10, 'who grades lets nobody read what he makes');
    umask $usual;
    my @seconds;
    no warnings 'redefine';
    local *Grader::judged = sub { push @seconds, $_[3]{seconds}; return };
    my @two = ((map { {%$_, chapter => '02'} } @exercises), {%{$exercises[0]}, chapter => '03', function => 'project_qkv'});
    my $work = submission(solved => 1);
    cp('chapters/03_qkv.c', $work);
    grade($work, %assignment, exercises => \@two);
    ok $seconds[0] == 30 && $seconds[1] > 30, 'seconds that one chapter does not need are for the next' or diag "@seconds";
}

SKIP: {
    skip 'who is not root starts what is in folders of their own', 1 if $> != 0;
    chmod 0700, $folder;
    eval { graded(submission(solved => 1)) };
    like $@, qr/^submissions cannot be run here/, 'where nothing can be run, nobody is blamed';
    chmod 0711, $folder;
}

# ---- Attacks. For each: what stands at the beginning of softmax, what before, and what is
# said. What follows is the solution: who gets so far, as the attack has succeeded, has
# the points.

my $golden = "$ENV{PWD}/golden/02_softmax.safetensors";
my $root = $ENV{PWD};
make_path("$folder/open");
chmod 0777, "$folder/open";
my $there = Chapter::save("$folder/open/there", '');
my @attacks = (
    ['a loop without end', 'for (;;) ;', '', qr/no end in \d s/],
    ['a recursion', 'volatile float a[99]; softmax(n + 1, scores, weights); a[0] = 1;', '', qr/Segmentation fault/],
    ['a crash', '*(volatile int *)0 = 1;', '', qr/Segmentation fault/],
    ['the heap overrun', 'char *a = malloc(20); for (int i = 0; i < 40; i++) ((volatile char *)a)[i] = 1; free(a);', '', qr/Segmentation|Aborted/],
    ['the result overrun', 'for (int i = 0; i < n + 1; i++) weights[i] = 0;', '', qr/weights .*written beyond its end/],
    ['scores overrun', 'float s = 0; for (int i = 0; i < n + 9; i++) s += scores[i]; for (int i = 0; i < n; i++) weights[i] = s; return;', '', qr/beyond the ends of an array/],
    ['all memory', 'for (;;) { volatile char *a = malloc(1 << 24); for (int i = 0; i < 1 << 24; i += 4096) a[i] = 1; }', '', qr/Segmentation|no end/],
    ['processes', 'if (fork() < 0) return;', '#include <unistd.h>', qr/Bad system call/],
    ['threads that only sleep', 'for (int i = 0; i < 9000; i++) if (clone(sleeps, stack[i + 1], 0x50f00, NULL) < 0) abort();',
        "#include <unistd.h>\nint clone(int (*)(void *), void *, int, void *, ...);\nstatic char stack[9001][2048] __attribute__((aligned(16)));\n"
          . 'static int sleeps(void *x) { for (;;) sleep(99); return x != NULL; }', qr/Aborted/],
    ['a file written', qq{if (!fopen("$folder/open/written", "w")) return;}, '', qr/where/],
    ['a file removed', qq{if (remove("$there")) return;}, '', qr/Bad system call/],
    ['golden data read', qq{if (!fopen("$golden", "rb")) return;}, '', qr/where/],
    ['exit(0)', 'exit(0);', '', qr/ended by itself, with status 0/],
    ['TAP of its own', 'printf("\nok 1 - softmax: masked\nok 2 - weighted_sum: all\n1..2\n"); fflush(stdout); _exit(0);', '#include <unistd.h>',
        qr/ended by itself/],
    ['the judge answered to at once', 'char a[4096] = {0}; write(4, a, sizeof a); _exit(0);', '#include <unistd.h>', qr/ended by itself/],
    ['an answer of the right form', 'uint64_t a[9000] = {0x61747465}; write(4, a, sizeof a); for (;;) ;', '#include <unistd.h>', qr/weights.*where/],
    ['before what is before main', '', qq{#include <unistd.h>\nstatic void early(void) { fork(); }\n}
        . qq{__attribute__((section(".preinit_array"), used)) static void (*p)(void) = early;}, qr/Bad system call/],
    ['signals', 'if (kill(getpid(), 0)) return;', "#include <signal.h>\n#include <unistd.h>", qr/Bad system call/],
    ['a terminal\'s commands', 'fputs("x\\033]0;y\\007", stderr); abort();', '', qr/\A[^\e\a]*Aborted[^\e\a]*\z/],
    ['signals ignored', 'for (int i = 1; i < 64; i++) signal(i, SIG_IGN); for (;;) ;', '#include <signal.h>', qr/no end/],
    ['a program', qq{execl("/bin/sh", "sh", "-c", "touch $folder/open/written", (char *)0); return;}, '#include <unistd.h>', qr/Bad system call/],
    ['another instruction set\'s calls', 'int (*call)(int, unsigned, unsigned) = (void *)code; if (call(5, (unsigned)(uintptr_t)path, 0) < 0) return;',
        qq{static char path[] = "$golden";\n__attribute__((section(".text#"))) static const unsigned char code[] = }
        . '{0x53, 0x89, 0xf8, 0x89, 0xf3, 0x89, 0xd1, 0x31, 0xd2, 0xcd, 0x80, 0x5b, 0xc3};', qr/Bad system call|Illegal|Segmentation/],
    ['a limit for another process', 'struct rlimit none = {0, 0}; if (prlimit(0, RLIMIT_CORE, &none, NULL)) return;', '#include <sys/resource.h>', qr/Bad system call/],
    ['a fellow student\'s program', '', qq{#include <unistd.h>\n__attribute__((constructor)) static void early(void) }
        . '{ char *none[] = {NULL}; execve("/proc/self/exe", none, none); }', qr/Bad system call/],
    ['the place in front of the result', 'weights[-1] = 0;', '', qr/weights .*written in front of it/],
    ['what memory held before', 'float *mine = malloc((size_t)n * 4); for (int i = 0; i < n; i++) weights[i] = mine[i]; return;', '', qr/where/],
    ['the library\'s place for the solution', 'void *all = dlopen(0, 2); if (!all || !dlsym(all, "softmax_given")) return;',
        '#include <dlfcn.h>', qr/where/],
    ['an interpreter', '', '__attribute__((section(".interp"), used)) static const char other[] = "/lib64/ld-linux-x86-64.so.2";', qr/ended by itself, with status 127/],
    ['more than fits', 'memset(large, 1, sizeof large);', 'static char large[600 << 20];', qr/Segmentation|status 127|Killed/],
);
for my $attack (@attacks) {
    my ($what, $body, $code, $words) = @$attack;
    my $result = graded(submission(solved => 1, body => "    (void)n, (void)scores, (void)weights; $body",
        code => "#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <stdint.h>\n$code"), test_seconds => 1);
    my ($first) = @{$result->{exercises}};
    is "$first->{earned} $first->{state}", '0 wrong', "$what: no point";
    like message($result), $words, '... and it is said why';
}
ok -e $there, 'nothing was removed';

# ---- What is said of a solution in a student copy, and when it is graded, is the same: how
# far it is, and the name of the mistake. Each loop may go too far, in each direction.

my $build = $how->{build};
my (undef, $link) = Chapter::compiler();
my $top = 'if (n < 1) REFUSE("none"); float top = FIRST; double sum = 0; FIND if (scores[j] > top) top = scores[j]; for (int j = 0; j < n; j++) '
  . 'sum += weights[j] = expf(scores[j] - top); for (int j = 0; j < n; j++) weights[j] = (float)(weights[j] / sum);';
my $sum = 'for (int k = 0; k < d; k++) { double sum = 0; for (int j = 0; j < n; j++) sum += weights[j] * value[j][k]; context[k] = (float)sum; }';
my $dot = 'float sum = 0; for (int k = 0; k < n; k++) sum += a[k] * b[k]; return sum;';
my $all = 'for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) scores[i][j] = dot(d, query[i], key[j]);';
my $linear = 'for (int i = 0; i < n; i++) for (int k = 0; k < l->d_out; k++) { float sum = l->bias ? l->bias[k] : 0; '
  . 'for (int j = 0; j < l->d_in; j++) sum += x[i][j] * l->weight[k * l->d_in + j]; out[i][k] = sum; }';
my ($first, $find) = ('scores[0]', 'for (int j = 1; j < n; j++)');
my $heap = 'float *sum = malloc((size_t)d * sizeof *sum); for (int k = 0; k < d; k++) { for (int j = 0; j < n; j++) sum[k] += weights[j] * value[j][k]; context[k] = sum[k]; } free(sum);';
sub altered { my ($text, %by) = @_; for (sort keys %by) { $text =~ s/\Q$_\E/$by{$_}/ or die "$_ is not in $text\n" } return $text }
for (['one entry too far', 'dot', altered($dot, 'k < n' => 'k <= n'), 'wrong', 'the loop goes one entry too far'],
     ['no end', 'dot', 'for (;;) ;', 'wrong'],
     ['n keys', 'dot_scores', altered($all, 'j < m' => 'j < n'), 'wrong', 'as many keys as queries are looked at'],
     ['one key too far', 'dot_scores', altered($all, 'j < m' => 'j <= m'), 'wrong'],
     ['the largest from in front of the scores', 'softmax', altered($top, FIRST => '-INFINITY', FIND => 'for (int j = -1; j < n; j++)'), 'wrong'],
     ['the largest, one too far', 'softmax', altered($top, FIRST => $first, FIND => 'for (int j = 1; j <= n; j++)'), 'wrong'],
     ['a sum without a value', 'softmax', altered($top, FIRST => $first, FIND => $find, 'sum = 0' => 'sum'), 'wrong'],
     ['another index', 'weighted_sum', altered($sum, 'weights[j]' => 'weights[k]'), 'wrong', 'the weight of the entry is taken, not that of the row'],
     ['one row too far', 'weighted_sum', altered($sum, 'j < n' => 'j <= n'), 'wrong'],
     ['one entry too far', 'weighted_sum', altered($sum, 'k < d' => 'k <= d'), 'wrong'],
     ['what memory held', 'weighted_sum', $heap, 'wrong'],
     ['the bias of the row', 'linear_forward', altered($linear, 'l->bias[k]' => 'l->bias[i]'), 'wrong', 'each row is given one entry of the bias, where each column has its own'],
     ['a row of the weight too far', 'linear_forward', altered($linear, 'k < l->d_out' => 'k <= l->d_out'), 'wrong']) {
    my ($what, $function, $body, $due, $due_name) = @$_;
    my ($of) = map { Chapter->load($_) } map { glob "chapters/${_}_*.c" }
      $function =~ /^dot/ ? '01' : $function =~ /^linear/ ? '07' : '02';
    my @asked = map { {%$_, chapter => $of->{number}} } grep { ($_->{function} // '') eq $function } @{$of->{exercises}};
    my @lines = @{$of->{lines}};
    my ($open, $close) = $of->body($function);
    @lines[$open + 1 .. $close - 1] = ("    $body", ('') x ($close - $open - 2));
    $lines[0] = "#include <stdlib.h>\n$lines[0]" if $function eq 'weighted_sum';
    make_path(my $work = "$folder/both" . $count++);
    my $source = Chapter::save("$work/$of->{name}.c", @lines);
    my ($one) = @{grade($work, %assignment, exercises => \@asked, test_seconds => 1)->{exercises}};
    is system("@{$how->{cc}} @{$how->{flags}{''}} @{$how->{unset}} -Isrc -w -Dmain=main_$of->{number} '$source' "
        . "$build/tests/$of->{name}.o $build/libattention.a $link -o '$work/tests'"), 0, "$function: $what: it compiles";
    local $ENV{TAP_SECONDS} = 1;
    my @tests = Chapter::run_tests("$work/tests");
    my ($state) = State::of(\@asked, \@lines, @tests);
    my $name = join ', or: ', Diagnosis::names(Diagnosis::load('.', $of->{number}), $function, Diagnosis::of_tests($function, @tests));
    is $one->{state} . ': ' . ($one->{diagnosis} // ''), "$state->{state}: $name", '... when it is graded, the same is said as in a copy';
    is $state->{state}, $due, "... it is $due";
    is $name, $due_name, '... by its name' if defined $due_name;
}

# ---- What is not compiled at all.

# Where the solution's file is, the text is right: who could include it had all points.
my $solution = "$root/chapters/02_softmax.c";
my $hidden = Chapter::save("$folder/hidden", 'int key = 7;');
my $not_there = qr/^does not compile: .*(?:Permission denied|No such file|not found)/;
for (['the solution included', [qq{#include "$solution"}], $not_there],
     ['... as a header of C', [qq{#include <../..$solution>}], $not_there],
     ['... written otherwise', ["/*\n*/ ??=in\\\nclude /* */ \"/proc/self/root$solution\""], $not_there],
     ['... behind a name', ["#define A <../..$solution>", '#include A'], $not_there],
     ['what a user has', [qq{#include "$hidden"}, @{$chapter->{lines}}], $not_there],
     ['what a user has, to assemble', [qq{__asm__(".pushsection .text; .include \\"$root/src/attention.h\\"; .popsection");}, @{$chapter->{lines}}],
         qr/^does not compile: .*can't open/],
     ['a file without end', ['#include "/dev/zero"', @{$chapter->{lines}}], $not_there],
     ['golden data by the assembler', [qq{__asm__(".incbin \\"$golden\\"");}, @{$chapter->{lines}}], $not_there],
     ['golden data by a section', [qq{__attribute__((section(".x,\\"a\\"\\n.incbin \\"$golden\\"\\n#"))) int x = 3;}, @{$chapter->{lines}}], $not_there],
     ['a terminal\'s commands', ["#error \e[2J\e]0;x\a"], qr/^does not compile: [^\e\a]*error[^\e\a]*\z/],
     ['a main of its own', ['__asm__(".globl main; main: ret");', @{$chapter->{lines}}], qr/^does not compile: .*multiple definition/],
     ['the runner\'s functions', ['void *malloc(unsigned long n) { (void)n; return 0; }', @{$chapter->{lines}}],
         qr/^does not compile: .*multiple definition/],
     ['no C', ['this is no C'], qr/^does not compile: .*error/]) {
    my ($what, $text, $words) = @$_;
    my $result = graded(submission(text => $text));
    is $result->{score}, 0, "$what: no point";
    like message($result), $words, '... and it is said why';
}

# ---- The grader's own faults: nobody's who hands something in. In a copy of the book,
# whose path is odd, they are planted.

my $book = "$folder/a \"b\" c";
my @made = map {"$how->{build}/grader/$_"} qw(how run.o confined), map {"02_softmax.$_"} qw(judge a tests);
make_path("$book/build/grader");
system('cp', @made, "$book/build/grader") == 0 or die 'the grader cannot be copied';
for my $path (Headers::files(Headers->load('src/attention.h')), 'golden/02_softmax.safetensors',
    'tools/teach/grade', bsd_glob('tools/*.pm'), bsd_glob('tools/*/*.pm'), bsd_glob('chapters/*.c')) {
    make_path("$book/" . dirname($path));
    cp($path, "$book/$path") or die "$path: $!\n";
}

my $hw = Chapter::save("$folder/softmax.conf", 'name = hw', 'chapters = 02');
my $right = submission(solved => 1);
# Status, standard output and standard error; in front of the command stands what is given.
sub told {
    my ($before) = @_;
    my $said = `cd '$book' && BUILD=build $before tools/teach/grade '$right' '$hw' 2>'$folder/said'`;
    open my $file, '<', "$folder/said";
    return ($? >> 8, $said, join '', <$file>);
}
my ($status, $report, $fault) = told('');
like $report, qr{^score: 10 / 10$}m, 'a right submission, where the book\'s path is odd' or diag $fault;
unlike $report, qr/unconfined/, '... confined';
for (['tests without number', 'tests', sub { Chapter::save($_[0], '') }, qr/has no test of softmax/],
     ['no judge', 'judge', sub { unlink $_[0] }, qr/02_softmax\.judge is not there: make graders CHAPTER=02/],
     ['a judge that does not end its work', 'judge', sub { Chapter::save($_[0], '#!/bin/sh', 'echo ok 1 - softmax: vector_1') }, qr/the judge of/],
     ['a judge that cannot run', 'judge', sub { Chapter::save($_[0], 'x') }, qr/the judge of/],
     ['no library', 'a', sub { unlink $_[0] }, qr/02_softmax\.a is not there/]) {
    my ($what, $part, $plant, $words) = @$_;
    my $path = "$book/build/grader/02_softmax.$part";
    cp($path, "$path.kept");
    $plant->($path);
    chmod 0755, $path;
    my ($status, $report, $fault) = told('');
    is "$status $report", '2 ', "$what: no report, and no status of success";
    like $fault, qr/\Atools\/teach\/grade: [^\n]*$words[^\n]*\n\z/, '... but what is wrong';
    rename "$path.kept", $path;
}

my (undef, undef, $stopped) = Limits::limited(1, {}, 'sh', '-c', 'exec >&- 2>&-; sleep 600');
ok $stopped, 'who closes its output and goes on is stopped, too';
like `make -s graders CHAPTER=99 2>&1`, qr/CHAPTER=99: there is no chapter 99 with exercises: one of 1 to 24 is needed/, 'a chapter that there is not';
isnt $?, 0, '... makes no grader';

unlike `make -n grade WORK=x NAME=none BUILD='$folder/none' 2>&1`, qr/\.judge/, 'an assignment that there is not makes none either';
like `make -n grade WORK=x CONF='$hw' BUILD='$folder/none' 2>/dev/null`, qr/02_softmax\.judge/, '... and one that there is, its own';

# ---- What is graded: the assignment decides, or else CHAPTER, or else the copy by its own
# word. Make makes the graders that this takes.

system("tools/learn/student 02 '$folder/copy' >/dev/null") == 0 or die 'no copy can be made';
my $its = "$folder/copy/.book/exercises";
my $own = 'what its .book/exercises asks for';
sub of_copy {
    my ($before, @more) = @_;
    my $said = `$before tools/teach/grade '$folder/copy' @more 2>&1`;
    return join ' ', $? >> 8, ($said =~ /\A(.*)/)[0], $said =~ m{^score: (.*)}m;
}
sub judges { return join ' ', `make -n grade BUILD='$folder/none' WORK='$folder/copy' @_ 2>/dev/null` =~ m{-o \S*/(\w+)\.judge\b}g }
is of_copy(''), "0 $own 0 / 10", 'a copy handed in blank has nothing, of what it asks for';
is of_copy('CHAPTER=2.1'), '0 CHAPTER=2.1 0 / 3', '... or of what CHAPTER names';
is of_copy('CHAPTER=01', "'$hw'"), '0 hw 0 / 10', '... or of the assignment, whatever CHAPTER names';
like of_copy('CHAPTER=2.9'), qr/^2 \S+ CHAPTER=2\.9: exercise 2\.9 is not in chapter 2: /, '... which there must be';
is judges(), '02_softmax', 'make makes the graders of what a copy asks for';
is judges('CHAPTER="3.1 02"'), '02_softmax 03_qkv', '... or CHAPTER';
is judges('CHAPTER=03', "CONF='$hw'"), '02_softmax', '... or the assignment';
Chapter::save("$folder/copy/chapters/02_softmax.c", $chapter->emptied(@exercises[1, 2]));
Chapter::save($its, '2.1', '2.2 beside');
is of_copy(''), "0 $own 3 / 3", 'a list that a student has cut is named';
is of_copy('CHAPTER=02'), '0 CHAPTER=02 3 / 10', '... and counts for nothing where CHAPTER is given';
Chapter::save($its, '2.9');
like of_copy(''), qr/^2 \S+ $own: exercise 2\.9 is not in/, '... must name what there is';
unlink $its;
symlink $hw, $its;
is of_copy(''), '2 tools/teach/grade: it is not said what is graded: NAME=hw1 or CHAPTER=02 is needed', '... be a file, and be there';
is judges(), '', '... without which no grader is made';

# A kernel without Landlock.
my $without = Chapter::save("$folder/without.c", map { s/^ {4}//r } split /\n/, <<'C');
    #include <stddef.h>
    #include <linux/filter.h>
    #include <linux/seccomp.h>
    #include <sys/prctl.h>
    #include <unistd.h>
    int main(int count, char *word[])
    {
        struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 38),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        struct sock_fprog all = {4, f};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) || count < 2 || execvp(word[1], word + 1);
    }
C
system("@{$how->{cc}} '$without' -o '$folder/without'") == 0 or die 'no program can be made';
($status, $report, $fault) = told("'$folder/without'");
is "$status $report", '2 ', 'a kernel without Landlock: nothing is graded';
like $fault, qr/\A[^\n]*no Landlock[^\n]*UNCONFINED=1\n\z/, '... but this is said';
like +(told("UNCONFINED=1 '$folder/without'"))[1], qr{^score: 10 / 10\ncompiled unconfined}m, '... or graded, and the report says how';
unlike +(told('UNCONFINED=1'))[1], qr/unconfined/, 'where there is Landlock, it is used';

# What is hidden lies below what may be read.
my $plain = "$folder/plain";
make_path($plain);
chown 65534, 65534, $plain if $> == 0;
my $confined = "$how->{build}/grader/confined 5 '$plain'";
is system("$confined -- cat /usr/include/stdio.h >/dev/null 2>&1"), 0, 'the system\'s files can be read';
isnt system("$confined /usr/include -- cat /usr/include/stdio.h >/dev/null 2>&1"), 0, '... but not what is hidden among them';
isnt system("$confined -- cat '$hidden' >/dev/null 2>&1"), 0, '... nor what others have';
isnt system("$confined -- touch '$folder/open/written' >/dev/null 2>&1"), 0, '... and none written';
is system("$confined -- touch written"), 0, '... except in its folder';
isnt system("$confined -- perl -MSocket -e 'socket(my \$s, PF_INET, SOCK_DGRAM, 0) or exit 1' 2>/dev/null"), 0, '... and there is no network';

# ---- Folders that are not as they should be.

my $work = submission(solved => 1);
rename "$work/chapters/02_softmax.c", "$work/real.c";
symlink "$root/chapters/02_softmax.c", "$work/chapters/02_softmax.c";
like message(graded($work)), qr/is a link/, 'a link to the solution';
$work = submission(solved => 1);
remove_tree("$work/chapters");
symlink "$root/chapters", "$work/chapters";
like message(graded($work)), qr/is a link/, 'a link to all solutions';
$work = submission();
truncate "$work/chapters/02_softmax.c", 100_000_000;
$result = graded($work);
like message($result), qr/has more than 1000000 bytes/, 'a file of 100 MB';
is states($result), 'refused refused refused', '... is refused';
$work = submission();
srand 1;
Chapter::save("$work/chapters/02_softmax.c", map { join '', map { chr int rand 256 } 1 .. 200 } 1 .. 100);
like message(graded($work)), qr/does not compile/, 'a file of bytes';
$work = submission();
unlink "$work/chapters/02_softmax.c";
system 'mkfifo', "$work/chapters/02_softmax.c";
like message(graded($work)), qr/no file/, 'a pipe';
$work = submission();
make_path("$work/tests", "$work/golden", "$work/src");
Chapter::save("$work/tests/02_softmax.c", '#include <stdio.h>', 'int main(void) { puts("1..1\nok 1 - softmax: all"); return 0; }');
Chapter::save("$work/Makefile", 'all grade test:', "\ttouch $folder/made");
Chapter::save("$work/src/attention.h", '#define TODO(x) (void)0');
Chapter::save("$work/golden/02_softmax.safetensors", '');
is states(graded($work)), 'empty empty empty', 'tests, Makefile, header and golden data of its own are not looked at';

is_deeply {sums()}, \%before, 'nothing else has changed';
ok !-e $_, '... nothing was written' for "$folder/open/written", "$folder/made";
ok !-e 'x', '... no name was a command';
is join('', grep { m{\Q$folder\E/tmp/} } `ps -eo args`), '', '... and no process is left';

# The kernel is made of chapter 15, and does what its exercises do: none of it is there.
{
    my $kernel = Chapter->load('chapters/15_kernel.c');
    my @own = grep { ($_->{function} // '') eq 'attend_tiles' } @{$kernel->{exercises}};
    my @lines = $kernel->emptied(@own);
    my ($open) = $kernel->body('attend_tiles');
    $lines[$open + 1] = 'extern void attend_fast(const void *); (void)n, (void)m, (void)d_k, (void)d_v, attend_fast(query);';
    make_path("$folder/kernel/chapters");
    Chapter::save("$folder/kernel/chapters/15_kernel.c", @lines);
    my $result = grade("$folder/kernel", %assignment, exercises => [map { {%$_, chapter => '15'} } @own]);
    is $result->{score}, 0, 'a call of the kernel is worth nothing';
    like $result->{message} // message($result), qr/undefined reference to .attend_fast/, '... as there is none';
}

done_testing;
