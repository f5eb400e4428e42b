#!/usr/bin/env perl
# The harness itself: every way for a test to be wrong must end in "not ok",
# say in words what is wrong, and be TAP that prove can read to its end.

use strict;
use warnings;
use utf8;
use Encode qw(encode);
use File::Temp qw(tempdir);
use Chapter;
use TAP::Parser;
use Test::More;
use Wait;

my $build  = $ENV{BUILD} // 'build';
my $folder = tempdir(CLEANUP => 1);
$ENV{TAP_SECONDS} = 1;

# Texts that tested code might print, or that a test might name.
my @texts = ("two\nlines", "two\n  lines\n", "'two\n    lines'", ' ', "'", '"', '|', '>',
    '|' . "\n  at the margin", "it's", '"a" b', "'a' b", '\\', '\\"', '\\n', "a\tb\r", 'a: b', '- a', '- a: b',
    '---', '...', "a\n  ...\nnot ok 1", "ok 99 - not a result\n", "  wrong: no\n", '1..0', '~', '[]', '{}',
    '1.5', 'nan', '[0, 1]', 'Grüße');

# A text as a C string.
sub quoted {
    return '"' . join('', map { sprintf '\\%03o', ord } split //, encode('UTF-8', $_[0])) . '"';
}

my $program = <<'EOT';
#define CHAPTER "01_dot_product"
#include "golden.h"

#define TEXT(text) fputs(text, stdout); expect_true(text, false)
static void good(void) { expect_equal("it", 1.0f, 1); }
static void wrong(void) { expect_equal("it", 1.5f, 1); }
static void close_by(void) { expect_near("it", 1000.5, 1000, 1e-6, 0); }
static void no_number(void) { expect_near("it", 0 * -INFINITY, 1, 1, 1); }
static void a_number(void) { expect_near("it", 1, -NAN, 1, 1); }
static void infinite(void) { expect_near("it", INFINITY, 1e30, 1, 1); }
static void no_value(void) { uint32_t bits = 0xfefefefe; float x; memcpy(&x, &bits, 4); expect_equal("it", x, 3); }
static void lie(void) { expect_true("one and one is three", false); }
static void twice(void) { expect_equal("it", 3, 2); wrong(); }
static void nothing(void) { }
static void crash(void) { printf("k = 3"); raise(SIGSEGV); }
static void aborts(void) { wrong(); abort(); }
static void divides(void) { raise(SIGFPE); }
static void killed(void) { raise(SIGKILL); }
static void leaves(void) { exit(0); }
static void refuses(void) { REFUSE("no %s", "luck"); }
static void unwritten(void) { expect_equal("it", *(float *)guarded("an array", 1) + 5, 1); }
static void touched(void) { expect_equal("it", 5, unset); }
static void beyond(void) { ((float *)guarded("an array", 3))[3] = 1; good(); }
static void beyond_twice(void) { ((float *)guarded("it", 3))[3] *= 2; wrong(); }
static void beyond_copy(void) { memcpy((float *)guarded("an array", 3) + 3, (float *)guarded("an array", 3) + 3, 4); good(); }
static void in_front(void) { ((float *)guarded("it", 3))[-1] = 1; good(); }
static void behind(void) { expect_near("it", ((float *)guarded("an array", 3))[3] * 2, 0, 1, 1e9); }
static void off(void)
{
    float *got = guarded_copy("an array", 6, golden_floats("2x3x5", "scores"));
    input("2x3x5", "scores");
    input("2x3x5", "scores");
    got[4] += 0.25f;
    got[5] = unset;
    expect_close("scores", got, golden("2x3x5", "scores"), 1e-5, 1e-6);
}
/* What is given comes in the order of this text, by the names it has here;
 * what is too large is not shown. */
static const float wide[9][9] = {{0}, {0, INFINITY}};
static void gives(int a, int b) { tap_told->printed[0] = (char)(a + b); }
static void in_order(void)
{
    given_array("old", wide[0], 1);
    next_case();
    given("p = 0.5, r = NULL");
    given("p = 0.5, r = NULL");
    gives((given_array("is_word", ((int[]){2, 0}), 2), 1), (given_array("x", wide, 3, 9), 1));
    given_array("t", wide, 9, 3);
    input_as("2x3x5", "scores", "s");
    const float got[3][9] = {{0}, {0, 1}};
    expect_table("y", 3, 9, got, wide, EXACTLY);
    next_case();
    given("too late");
}
static void integer(void)
{
    const Tensor due = {.type = 'i', .rank = 1, .shape = {2}, .count = 2, .data = (int64_t[]){7, -3}};
    int *got = guarded("an array", 2);
    got[0] = 7;
    expect_close("place", got, &due, EXACTLY);
}
static void large(void) { expect_close("it", guarded("it", 1000), golden("thousand", "a"), EXACTLY); }
static const Tensor *hello(void) { return golden("hello", "query"); }
static void changes_input(void) { ((float *)hello()->data)[5] += 1; good(); }
static void changes_rounded(void) { ((float *)golden_floats("2x3x5", "scores"))[0] += 1; good(); }
static void beyond_input(void) { ((float *)hello()->data)[9] = 1; good(); }
static void prints(void) { puts("ok 99 - not a result"); printf("not"); good(); }
static void prints_much(void) { for (int i = 0; i < 99999; i++) printf("%d\n", i); wrong(); }
static void owes_two(void) { gives((due_as("2x3x5", "scores", "first", EXACTLY), 1), (due_as("2x3x5", "scores", "then", EXACTLY), 1)); }
static void endless(void) { for (;;) puts("and on"); }

/* What REFUSES calls, and whether it shall be content. */
enum { ok, not };
static void luck(int expected) { REFUSE("no %s %d", "luck", expected); }
static void accepts(int expected) { (void)expected; }
static void ends(int expected) { fputs("x.c: f: one line\n", stderr); exit(expected + 6); }
static void crashes(int expected) { raise(expected ? SIGSEGV : 0); }
static void says(const char *line, int expected) { (void)expected; fputs(line, stderr); exit(2); }
static void chats(int expected) { puts("n:"); printf("%d ", expected); REFUSE("no luck"); }
static void todo(int expected) { (void)expected; TODO("9.9"); }
static void a_third(int expected) { for (;;) accepts(expected); }
EOT
$program .= "static void text_$_(void) { TEXT(" . quoted($texts[$_]) . "); }\n" for 0 .. $#texts;

# Behind each call that is not to pass, what is wrong with it.
$program .= <<'EOT';

int main(void)
{
    TAP("ok", good());
    TAP("not", wrong()); // it: 1.5 where 1 is due
    TAP("not", close_by()); // it: 1000.5 where 1000 is due: 0.5 apart, at most 0.001 is allowed
    TAP("not", no_number()); // it: nan where 1 is due: not a number, as comes of 0/0, of inf - inf, of inf * 0, or of reading beyond an array's ends
    TAP("not", a_number()); // it: 1 where nan is due
    TAP("not", infinite()); // it: inf where 1e+30 is due
    TAP("not", no_value()); // it: -1.69473953e+38 where 3 is due: perhaps a variable was used before it had a value
    TAP("not", lie()); // one and one is three: this is not so
    TAP("not", twice()); // it: 3 where 2 is due
    TAP("not", nothing()); // the test: compares nothing
    TAP("not", crash()); // Segmentation fault: memory was used that is not the program's, often by an index out of range or a NULL pointer
    TAP("not", aborts()); // it: 1.5 where 1 is due | Aborted: by assert or abort, or because memory was written out of range or freed twice
    TAP("not", divides()); // Floating point exception: a whole number was divided by 0
    TAP("not", killed()); // Killed
    TAP("not", leaves()); // the program ended by itself, with status 0
    TAP("not", refuses()); // refused, with status 2, where an answer is due
    TAP("not", unwritten()); // it: unset where 1 is due: nothing was written there, or only added to what was there
    TAP("not", touched()); // it: 5 where unset is due: nothing is to be written there
    TAP("not", in_order()); // y[1][1]: 1 where inf is due
    TAP("not", beyond()); // an array (size 3): something was written beyond its end
    TAP("not", beyond_twice()); // it: 1.5 where 1 is due | it (size 3): something was written beyond its end
    TAP("not", beyond_copy()); // an array (size 3): something was written beyond its end
    TAP("not", in_front()); // it (size 3): something was written in front of it
    TAP("not", behind()); // it: nan where 0 is due: not a number, read beyond the ends of an array
    TAP("not", off()); // scores[1][1]: 2.59036756 where 2.34036757 is due
    TAP("not", integer()); // place[1]: unset where -3 is due: nothing was written there, or only added to what was there
    TAP("not", large()); // it[0]: unset where 0.0698450804 is due: nothing was written there, or only added to what was there
    TAP("not", changes_input()); // query (size 9): the function has changed its input
    TAP("not", changes_rounded()); // scores (size 6): the function has changed its input
    TAP("not", beyond_input()); // query (size 9): something was written beyond its end
    TAP("not", owes_two()); // first[0][0]: unset where 0.886267064 is due: nothing was written there, or only added to what was there
    TAP("ok", prints());
    TAP("not", prints_much()); // it: 1.5 where 1 is due
    REFUSES("x.c: luck: no luck 0", luck(ok));
    REFUSES(NULL, luck(ok));
    REFUSES("x.c: luck: no luck 10", luck(not)); // status 2, but the line is not that of a refusal
    REFUSES("x.c: luck: no luck ", luck(not)); // status 2, but the line is not that of a refusal
    REFUSES("x.c: hick: no luck 1", luck(not)); // status 2, but the line is not that of a refusal
    REFUSES(NULL, accepts(not)); // the call was not refused
    REFUSES(NULL, ends(not)); // the program ended by itself, with status 7
    REFUSES(NULL, crashes(not)); // Segmentation fault: it should have been refused; it went on and crashed
    REFUSES_SUCH("two heads: ok", luck(not));
    REFUSES_SUCH("two heads: not", accepts(not)); // the call was not refused
    REFUSES(NULL, chats(ok));
    REFUSES("x.c: chats: no luck", chats(ok));
    REFUSES(NULL, says("x.c: f: one line\n", ok));
    REFUSES(NULL, says("x.c: f: no end of line", not)); // status 2, but the line is not that of a refusal
    REFUSES(NULL, says("x.c: f: two\nlines\n", not)); // status 2, but the line is not that of a refusal
    REFUSES(NULL, says("x.c: no function\n", not)); // status 2, but the line is not that of a refusal
    REFUSES(NULL, says("x.c: f: \n", not)); // status 2, but the line is not that of a refusal
    REFUSES("x.c: todo: exercise 9.9 is still empty: write its body", todo(ok));
    REFUSES(NULL, todo(not)); // status 2, but the line is not that of a refusal
    TAP("luck: not", endless()); // no end in 1 s: is there an endless loop?
    TAP("luck: not", good()); // not run: a test before it has no end
    REFUSES(NULL, luck(not)); // not run: a test before it has no end
    TAP("lucky: ok", good());
    REFUSES(NULL, a_third(not)); // no end in 1 s: is there an endless loop?
    TAP("a_third: not", good()); // not run: a test before it has no end
    TAP("luck: ok", good());
EOT
$program .= "    TAP(\"not\", text_$_()); // text\n" for 0 .. $#texts;
$program .= "    return tap_done();\n}\n";
Chapter::save("$folder/x.c", split /\n/, $program);
my $cc = join ' ', $ENV{CC} // 'cc', map { $ENV{$_} // () } qw(CFLAGS LDFLAGS);
is system("$cc -std=c11 -Isrc -Itests '$folder/x.c' '$build/libsupport.a' -lm -o '$folder/x'"), 0,
  'it compiles' or BAIL_OUT('no harness');

# A chapter's own program, which reads one tensor of many, and the same by
# another name, which may.
for my $name ('01_dot_product', 'x2') {
    my $source = Chapter::save("$folder/$name.c", '#define CHAPTER "01_dot_product"', '#include "tap.h"',
        'static void waits(void) { for (;;) pause(); }', 'static void one(void) { expect_true("read", golden("hello", "query")->count == 9); }',
        'int main(int n, char **word) { if (n > 1) TAP("dot: not", waits()); else TAP("dot: ok", one()); return tap_done(); }');
    system "$cc -std=c11 -Isrc -Itests '$source' '$build/libsupport.a' -lm -o '$folder/$name'";
    my @tests = Chapter::run_tests("$folder/$name");
    is join(' | ', map { "$_->{ok} $_->{name} " . ($_->{told}{wrong} // '') } @tests),
      $name eq 'x2' ? '1 dot: ok ' : '1 dot: ok  |  golden: every tensor is read 1x1x1-cosines is not',
      "$name: golden data that nothing reads";
}

open my $waits, '-|', "$folder/x2", 'waits' or die "$folder/x2: $!\n"; # meanwhile
alarm $Wait::MOST; # prove itself may have no end
my $parser = TAP::Parser->new({exec => ["$folder/x"], merge => 1});
my ($tests, @yaml, @keys, @names) = (0);
while (my $result = $parser->next) {
    alarm $Wait::MOST;
    push @yaml, $result->data if $result->is_yaml;
    push @keys, join ' ', $result->raw =~ /^  (\w+): /mg if $result->is_yaml;
    next if !$result->is_test;
    $tests++;
    push @names, $result->description =~ s/^- //r;
    my ($expect) = $result->description =~ /(ok|not)\)?$/;
    is $result->is_actual_ok ? 'ok' : 'not', $expect, "test point $tests";
}
is $tests, () = $program =~ /^    (?:TAP|REFUSES|REFUSES_SUCH)\(/mg, 'none is lost';
my @wrong = $program =~ m{^    \w+\(.*; // (.*)}mg;
splice @wrong, -@texts, @texts, map { "$_: this is not so" } @texts;
# On a machine that has no time for it, a loop seems to wait.
$_->{wrong} =~ s/^no end in 6 s: does.*/no end in 1 s: is there an endless loop?/ for @yaml;
is_deeply [map { $_->{wrong} =~ s/\n(?=it|Ab)/ | /gr } @yaml], \@wrong, 'each that fails says what is wrong';
is_deeply [map { $_->{printed} } @yaml[-@texts .. -1]], \@texts, '... and what was printed, as it was';
is_deeply [grep { !/^wrong(?: given)?(?: gave)?(?: due)?(?: printed)?(?: fail)?$/ } @keys], [], '... in one order';

like join('', <$waits>), qr/^not ok 1 (?s:.*)^  wrong: "no end in 6 s: does it wait, or is there an endless loop\?"$/m, 'what waits is ended, too';
alarm 0;

sub told {
    my ($key, $wrong) = @_;
    return join ' | ', map { $_->{$key} // 'nothing' } grep { $_->{wrong} =~ /^$wrong/ } @yaml;
}
is told('printed', 'Segm'), 'k = 3 | nothing', 'what is printed before a crash is kept';
is told('printed', 'the program ended'), "nothing | x.c: f: one line\n", '... and before other ends';
like told('printed', 'it: 1.5'), qr/^(?:nothing \| ){3}\d*\n99\d+\n(?s:.*)\n99998\n\z/, '... of too much the end';
is told('due', 'the call') =~ s/ \|.*//r, 'a refusal, with status 2 and the line file.c: function: what is wrong', 'a refusal is due';
is told('due', 'status 2') =~ s/ \|.*//r, 'a refusal, with status 2 and the line x.c: luck: no luck 10', '... this one';
my $rows = "scores (2, 3) =\n [0.886267, -1.04776, -0.380739]\n [-1.30509, ";
is told('given', 'scores\['), "${rows}2.34037, 0.601572]", 'what was given is told once';
is told('given', 'y'), "p = 0.5, r = NULL\nis_word (2) = [2, 0]\nx (3, 9)\nt (9, 3)\n"
  . "s (2, 3) =" . substr($rows, 15) . '2.34037, 0.601572]', 'it is told in order, and to the point';
is_deeply [grep { /heads/ } @names], ['luck: refuses two heads: ok', 'accepts: refuses two heads: not'],
  'what is refused is said in words';
is_deeply [grep { s/^hard_alignment: alignment_// } map { $_->{name} } Chapter::run_tests("$build/tests/08_cross_attention")],
  [qw(1x1 1x7 far 5x4 4x9)], 'small sets come first';
is told('gave', 'scores\['), "${rows}2.59037, unset]", '... as what was given back';
is told('due', 'scores\['), "${rows}2.34037, 0.601572]", '... and what was due';
is told('gave', 'place'), 'place (2) = [7, unset]', '... of whole numbers, too';
is told('gave', 'it\[0\]'), 'nothing', '... but not if it is large';
is_deeply [$parser->parse_errors], [], 'prove can read it all';
isnt $parser->exit, 0, 'and the program ends with a failure';

done_testing;
