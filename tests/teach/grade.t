#!/usr/bin/env perl
# Grading holds against what submissions do: a right one gets all points, however it is
# written; what is not solved gets none, whatever it does to look solved, to stop others, or
# to reach what is not its own; and none stops the class.

use strict;
use warnings;
use utf8;
use Digest::SHA;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use IO::Socket::INET;
use Chapter;
use Test::More;
use Text;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CHAPTER NAME CONF FORMAT)};
my $make = $ENV{MAKE} // 'make';
my $root = $ENV{PWD};
my $folder = tempdir(CLEANUP => 1);
make_path($ENV{TMPDIR} = "$folder/tmp", "$folder/open");
chmod 0711, $folder;
chmod 0777, "$folder/open";
@ENV{qw(TAP_SECONDS JOBS)} = (1, 2);
my $chapter = Chapter->load('chapters/02_softmax.c');
my @exercises = grep { $_->{function} } @{$chapter->{exercises}};

# What must stay as it is: everything that is not the submission's.
sub sums { return map { ($_ => eval { Digest::SHA->new(1)->addfile($_)->hexdigest } // '') }
      glob 'golden/* tests/*.[cht] src/*.* src/*/* chapters/*.c Makefile tools/*/* tools/teach/grader/*' }
my %before = sums();
my $secret = Chapter::save("$folder/open/there", '#define SOLVED 1');
my $network = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 9) or die "no socket: $!\n";
my $port = $network->sockport;

# ---- Each: its name; what stands at the beginning of softmax, and what in front of all code; and what
# its report says. What follows is the solution: an attack that fails and goes on must not get that far,
# and who has got what the attack is for has the points.

my $golden = "$root/golden/02_softmax.safetensors";
my $solution = "$root/chapters/02_softmax.c";
my $write = qq{remove("$secret"); FILE *f = fopen("$folder/open/written", "w"); if (!f || fputs("x", f) < 0 || fclose(f)) return;};
my $by_itself = qr/ended by itself/;
my @hostile = (
    ['exit in a constructor', '', '__attribute__((constructor)) static void early(void) { puts("ok 1 - softmax: all"); exit(0); }', $by_itself],
    ['printed ok lines', 'printf("\nok 1 - softmax: masked\nok 2 - weighted_sum: all\n1..2\n"); fflush(stdout); _exit(0);', '', $by_itself],
    ['atexit', 'atexit(late); exit(1);', 'static void late(void) { puts("ok 1 - softmax: all"); _exit(0); }', qr/ended by itself, with status 0/],
    ['a killed parent', 'kill(getppid(), SIGKILL); kill(-1, SIGKILL); abort();', '', qr/ended by itself|Aborted|Killed/],
    ['memcmp and fabs replaced', 'for (int i = 0; i < n; i++) weights[i] = 0; return;', 'int memcmp(const void *a, const void *b, size_t n) { '
        . "(void)a, (void)b, (void)n; return 0; }\ndouble fabs(double x) { return x * 0; }\nfloat fabsf(float x) { return x * 0; }", qr/weights.*where .* is due/],
    ['a fork bomb', 'for (;;) fork();', '', qr/no end/],
    ['a child that stays', 'if (fork() == 0) { setsid(); for (;;) sleep(600); } return;', '', qr/where/],
    ['threads', 'for (int i = 0; i < 9000; i++) if (clone(sleeps, stack[i + 1], 0x50f00, NULL) < 0) abort();',
        "int clone(int (*)(void *), void *, int, void *, ...);\nstatic char stack[9001][2048] __attribute__((aligned(16)));\n"
          . 'static int sleeps(void *x) { for (;;) sleep(99); return x != NULL; }', qr/Aborted|Segmentation/],
    ['endless output', 'for (;;) puts("ok 1 - softmax: all");', '', qr/no end/],
    ['all memory', 'for (;;) { volatile char *a = malloc(1 << 24); for (int i = 0; i < 1 << 24; i += 4096) a[i] = 1; }', '', qr/Segmentation|no end/],
    ['more than fits', 'memset(large, 1, sizeof large);', 'static char large[600 << 20];', qr/ended by itself|Killed/],
    ['a file written outside', $write, '', qr/where/],
    ['a program', qq{if (system("touch $folder/open/written")) return;}, '', qr/where/],
    ['a socket', "struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons($port)}; to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);\n"
          . 'if (connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to)) return;', "#include <netinet/in.h>\n#include <sys/socket.h>", qr/where/],
    ['golden data read', qq{if (!fopen("$golden", "rb")) return;}, '', qr/where/],
    ['a copied solution', '', qq{#include "$solution"}, qr/does not compile: .*No such file/],
    ['a solution of another student', '', qq{#include "$folder/class/right/02_softmax.c"}, qr/does not compile: .*No such file/],
    ['a solution that is linked', 'softmax_given(n, scores, weights); return;', 'void softmax_given(int n, const float *, float *);', qr/does not compile: .*undefined reference/],
    ['what others have', '', qq{#include "$secret"}, qr/does not compile: .*No such file/],
    ['an answer of its own', 'for (int fd = 3; fd < 9; fd++) { uint64_t a[9000] = {0x61747465}; (void)!write(fd, a, sizeof a); } for (;;) ;', '', qr/wrong/],
    ['a loop without end', 'for (;;) ;', '', qr/no end in \d s/],
    ['signals ignored', 'for (int i = 1; i < 64; i++) signal(i, SIG_IGN); for (;;) ;', '', qr/no end|Killed/],
    ['output closed', 'for (int fd = 0; fd < 9; fd++) close(fd); for (;;) ;', '', qr/no end|ended/],
    ['a crash', '*(volatile int *)0 = 1;', '', qr/Segmentation fault/],
    ['its result overrun', 'weights[n] = 0;', '', qr/weights .*written beyond its end/],
    ['its scores overrun', 'float s = 0; for (int i = 0; i < n + 9; i++) s += scores[i]; for (int i = 0; i < n; i++) weights[i] = s; return;', '', qr/where|beyond/],
    ['its scores changed', '((float *)scores)[0] = 0;', '', qr/where|changed/],
    ['what memory held before', 'float *mine = malloc((size_t)n * 4); for (int i = 0; i < n; i++) weights[i] = mine[i]; return;', '', qr/where/],
    ["a terminal's commands", 'fputs("x\\033]0;y\\007", stderr); abort();', '', qr/\\x1B\]0;y\\x07/],
    ['a main of its own', '', '__asm__(".globl main; main: ret");', qr/does not compile: .*multiple definition/],
    ['much to compile', '', 'char large[1 << 30] = {1};', qr/does not compile/],
    ['no C', '', "this is \e[2J no C", qr/does not compile: .*error/],
);

my $head = "#define _GNU_SOURCE\n" . join '', map {"#include <$_.h>\n"} qw(stdio stdlib string stdint signal unistd);
sub put {
    my ($name, @lines) = @_;
    make_path("$folder/class/$name/chapters");
    Chapter::save("$folder/class/$name/chapters/02_softmax.c", @lines);
}
sub solved {
    my ($body, $code) = @_;
    my @lines = @{$chapter->{lines}};
    my ($open) = $chapter->body('softmax');
    $lines[$open + 1] = "    (void)n, (void)scores, (void)weights; $body\n$lines[$open + 1]" if length $body;
    my ($include) = grep { $lines[$_] =~ m{^#include "attention/} } 0 .. $#lines;
    $lines[$include] .= "\n$head$code" if length $code || length $body;
    return @lines;
}
my %right = (right => [@{$chapter->{lines}}], "odd \"a\"; \$(touch x)" => [solved('', '/* TODO("2.1"); #include */ // asm \'"\'')],
    windows => [map {"$_\r"} @{$chapter->{lines}}], mark => ["\x{FEFF}", @{$chapter->{lines}}],
    busy => [solved('printf("debug"); fprintf(stderr, "%d", n); free(calloc(3, 7)); usleep(9); if (n < 1) REFUSE("my own words");', '')]);
put($_->[0], solved(@$_[1, 2])) for @hostile;
put($_, @{$right{$_}}) for keys %right;
put('blank', $chapter->emptied(@exercises));
my @equal = $chapter->emptied(@exercises);
s/TODO\("2\.1"\);/(void)scores; for (int i = 0; i < n; i++) weights[i] = 1.0f \/ (float)n;/ for @equal;
put('equal', @equal);
my @largest = @{$chapter->{lines}};
my ($open, $close) = $chapter->body('softmax');
@largest[$open + 1 .. $close - 1] = ('double sum = 0; if (n < 1) REFUSE("none"); for (int i = 0; i < n; i++) sum += expf(scores[i]);',
    'for (int i = 0; i < n; i++) weights[i] = (float)(expf(scores[i]) / sum);', ('') x ($close - $open - 3));
put('largest', @largest);
put('book', @equal); # with tests, a Makefile and a header of its own
make_path(map {"$folder/class/book/$_"} qw(tests src));
Chapter::save("$folder/class/book/tests/02_softmax.c", '#include <stdio.h>', 'int main(void) { puts("1..1\nok 1 - softmax: all"); return 0; }');
Chapter::save("$folder/class/book/Makefile", 'all grade test:', "\ttouch $folder/open/written");
Chapter::save("$folder/class/book/src/attention.h", '#define TODO(x) (void)0');

# The processes that work in what is graded here.
sub left { return join ' ', grep { m{^\Q$folder\E/|^/submission} } map { readlink "$_/cwd" // '' } glob '/proc/[0-9]*' }

my $out = "$folder/grades";
my $said = `$make -s grade-all DIR='$folder/class' OUT='$out' CHAPTER=02 2>&1`;
is $?, 0, 'a class is graded, whoever is in it' or diag $said;
my %row = map { my ($name, @its) = /^"?((?:[^",]|"")*?)"?,(\d+),10,(\d+),/; defined $name ? ($name =~ s/""/"/gr => \@its) : () }
  split /\n/, Text::of_file("$out/grades.csv");
is $row{$_}[0], 10, "$_: all points" or diag Text::of_file("$out/reports/$_.txt") for sort keys %right;
for (@hostile) {
    my ($name, undef, undef, $words) = @$_;
    my ($file) = grep { -f } "$out/reports/$name.txt";
    my $report = Text::of_file($file // "$out/grades.csv");
    is $row{$name}[1], 0, "$name: no point";
    like $report, $words, '... and it is said why';
    unlike $report, qr/[^\P{Cc}\n]/, '... without commands to a terminal';
}
like Text::of_file("$out/reports/blank.txt"), qr{^2\.1 softmax +0 / 3 +empty\n.*^score: 0 / 10\n}ms, 'a blank copy has none';
like Text::of_file("$out/reports/equal.txt"), qr{^2\.1 .* wrong .*^score: 0 / 10\n.*weights\[0\].*: 0\.\d+ where 0\.\d+ is due}ms, 'a wrong one is told what is wrong';
like Text::of_file("$out/reports/book.txt"), qr{^2\.1 .* wrong .*^score: 0 / 10\n}ms, 'tests and headers of its own are not looked at';
like Text::of_file("$out/reports/largest.txt"), qr/^ +perhaps: .*the largest score is not subtracted/m, 'a mistake that is known has its name';

is_deeply {sums()}, \%before, 'nothing else has changed';
ok !-e $_, '... nothing was written' for "$folder/open/written", 'x';
ok -e $secret, '... nothing was removed';
is left(), '', '... and no process is left';
is join(' ', glob "$folder/tmp/*"), '', '... and no folder';

# ---- Where there can be no jail.

make_path("$folder/bin");
chmod 0755, Chapter::save("$folder/bin/bwrap", '#!/bin/sh', 'echo "bwrap: no namespaces" >&2; exit 1');
my $again = "$folder/again";
make_path($again);
system('cp', '-R', map({"$folder/class/$_"} 'right', 'a file written outside', 'a fork bomb', 'a killed parent', 'a child that stays', 'blank'), $again);
SKIP: {
    skip 'only root can have another user run them', 1 if $>;
    chmod 0755, "$folder/open";
    my $all = `PATH='$folder/bin':"\$PATH" $make -s grade-all DIR='$again' OUT='$folder/open-grades' CHAPTER=02 2>&1`;
    is $?, 0, 'a class is graded without a jail' or diag $all;
    like $all, qr/^Graded without a jail \(/m, '... and told so';
    my $table = Text::of_file("$folder/open-grades/grades.csv");
    is join(' ', $table =~ /^[^,]*,(\d+),/mg), '7 7 7 0 0 10', '... as it was' or diag $table;
    like Text::of_file("$folder/open-grades/reports/right.txt"), qr{^score: 10 / 10\ngraded without a jail \(bwrap: no namespaces\), as another user, with the same limits$}m, '... and each report says so';
    ok !-e "$folder/open/written", '... nothing was written';
    is left(), '', '... and no process is left';
}
chmod 0700, $folder;
like `TMPDIR='$folder/tmp' CHAPTER=02 tools/teach/grade chapters/02_softmax.c 2>&1`, $> ? qr/score/ : qr/\Atools\/teach\/grade: submissions cannot be run here \([^\n]*\n\z/,
  'where nothing can be run, nobody is blamed';
chmod 0711, $folder;

# ---- The grader's own faults: nobody's who hands something in.

my $build = $ENV{BUILD} // 'build';
make_path("$folder/build/grader", "$folder/build/mistakes");
system("cp -p '$build'/grader/how '$build'/grader/run.o '$build'/grader/02_softmax.* '$folder/build/grader'; cp -p '$build'/mistakes/02.json '$folder/build/mistakes'");
for (['no judge', 'judge', [], qr/02_softmax\.judge is not there: make graders, with NAME or CHAPTER, makes it/], ['no tests', 'tests', [], qr/02_softmax\.tests is not there/],
     ['a judge that does not end its work', 'judge', ['#!/bin/sh', 'echo ok 1 - softmax: vector_1'], qr/the judge of chapter 02_softmax/],
     ['a judge that cannot run', 'judge', ['x'], qr/the judge of/]) {
    my ($what, $part, $text, $words) = @$_;
    my $path = "$folder/build/grader/02_softmax.$part";
    rename $path, "$path.kept";
    chmod 0755, Chapter::save($path, @$text);
    like `BUILD='$folder/build' CHAPTER=02 tools/teach/grade chapters 2>&1`, qr/\Atools\/teach\/grade: [^\n]*$words[^\n]*\n\z/, "$what: no report";
    is $? >> 8, 2, '... and no status of success';
    rename "$path.kept", $path;
}

done_testing;
