#!/usr/bin/env perl
# The harness itself: every way for a test to be wrong must end in "not ok",
# and in TAP that prove can read to its end.

use strict;
use warnings;
use utf8;
use Encode qw(encode);
use File::Temp qw(tempdir);
use TAP::Parser;
use Test::More;

my $build  = $ENV{BUILD} // 'build';
my $folder = tempdir(CLEANUP => 1);
$ENV{TAP_SECONDS} = 2;
alarm 60; # prove itself may have no end

# Texts that a tested function might hand out, as values of the YAML.
my @texts = ("two\nlines", "two\n  lines\n", "'two\n    lines'", "\n", '', ' ', "'", '"', '|', '>',
    '|' . "\n  at the margin", "it's", '"a" b', "'a' b", '\\', '\\"', '\\n', "a\tb\r", 'a: b', '- a', '- a: b',
    '---', '...', "a\n  ...\nnot ok 1", '~', '[]', '{}', '1.5', 'nan', '[0, 1]', 'Grüße');

# A text as a C string.
sub quoted {
    return '"' . join('', map { sprintf '\\%03o', ord } split //, encode('UTF-8', $_[0])) . '"';
}

my $program = <<'EOT';
#define CHAPTER "01_dot_product"
#include "tap.h"
#include <signal.h>

static void good(void) { tap_near("it", 1.0f, 1, 0, 0); }
static void wrong(void) { tap_near("it", 1.1f, 1, 0, 0); }
static void no_number(void) { tap_near("it", NAN, 1, 1, 1); }
static void number(void) { tap_near("it", 1, NAN, 1, 1); }
static void infinite(void) { tap_near("it", INFINITY, 1e30, 1, 1); }
static void other_infinity(void) { tap_near("it", -INFINITY, INFINITY, 1, 1); }
static void nothing(void) { }
static void crash(void) { raise(SIGSEGV); }
static void leaves(void) { exit(0); }
static void leaves_badly(void) { exit(7); }
static void refuses(void) { REFUSE("no %s", "luck"); }
static void beyond(void) { ((float *)room(3))[3] = 1; good(); }
static void beyond_twice(void) { ((float *)room(3))[3] *= 2; good(); }
static void beyond_copy(void) { memcpy((float *)room(3) + 3, (float *)room(3) + 3, 4); good(); }
static void behind(void) { tap_near("it", ((float *)room(3))[3], 0, 1, 1e9); }
static void golden_off(void)
{
    const Tensor *x = golden("01_dot_product/hello-query");
    float *got = room(x->count);
    memcpy(got, x->data, x->count * sizeof *got);
    got[5] += 0.001f;
    tap_close("it", x, got, 1e-5, 1e-6);
}
static const Tensor *input(void) { return golden("01_dot_product/hello-query"); }
static void changes_input(void) { ((float *)input()->data)[5] += 1; good(); }
static void beyond_input(void) { ((float *)input()->data)[input()->count] = 1; good(); }
static void prints(void) { puts("ok 99 - not a result"); good(); }
static void odd_words(void)
{
    tap_report(false, "it", "  got: |\nodd\n\n\n- 'line\n  expect: |\n    x\n");
}
static void endless(void) { for (;;) pause(); }

/* What REFUSES calls, and whether it shall be content. */
enum { ok, not };
static void luck(int expected) { REFUSE("no %s %d", "luck", expected); }
static void accepts(int expected) { (void)expected; }
static void ends(int expected) { fputs("x.c: f: one line\n", stderr); exit(expected + 6); }
static void says(const char *line, int expected) { (void)expected; fputs(line, stderr); exit(2); }
static void todo(int expected) { (void)expected; TODO("9.9"); }
static void a_third(int expected) { for (;;) accepts(expected); }
#define TEXT(text) tap_report(false, "it", "  expect: 1\n  got: %s\n", text)
EOT
$program .= "static void text_$_(void) { TEXT(" . quoted($texts[$_]) . "); }\n" for 0 .. $#texts;
$program .= <<'EOT';

int main(void)
{
    TAP(good, "ok");
    TAP(wrong, "not");
    TAP(no_number, "not");
    TAP(number, "not");
    TAP(infinite, "not");
    TAP(other_infinity, "not");
    TAP(nothing, "not");
    TAP(crash, "not");
    TAP(leaves, "not");
    TAP(leaves_badly, "not");
    TAP(refuses, "not");
    TAP(beyond, "not");
    TAP(beyond_twice, "not");
    TAP(beyond_copy, "not");
    TAP(behind, "not");
    TAP(golden_off, "not");
    TAP(changes_input, "not");
    TAP(beyond_input, "not");
    TAP(odd_words, "not");
    TAP(prints, "ok");
    REFUSES("x.c: luck: no luck 0", luck(ok));
    REFUSES(NULL, luck(ok));
    REFUSES("x.c: luck: no luck 10", luck(not));
    REFUSES("x.c: luck: no luck ", luck(not));
    REFUSES("x.c: hick: no luck 1", luck(not));
    REFUSES(NULL, accepts(not));
    REFUSES(NULL, ends(not));
    REFUSES(NULL, says("x.c: f: one line\n", ok));
    REFUSES(NULL, says("x.c: f: no end of line", not));
    REFUSES(NULL, says("x.c: f: two\nlines\n", not));
    REFUSES(NULL, says("x.c: no function\n", not));
    REFUSES(NULL, says("x.c: f: \n", not));
    REFUSES("x.c: todo: exercise 9.9 is still empty: write its body", todo(ok));
    REFUSES(NULL, todo(not));
    TAP(endless, "luck: not");
    TAP(good, "luck: not");
    REFUSES(NULL, luck(not));
    TAP(good, "lucky: ok");
    TAP(endless, "another: not");
    REFUSES(NULL, a_third(not));
    TAP(good, "a_third: not");
    TAP(good, "luck: ok");
EOT
$program .= "    TAP(text_$_, \"not\");\n" for 0 .. $#texts;
$program .= <<'EOT';
    setenv("TAP_ANY_WORDS", "1", 1);
    REFUSES("x.c: luck: a student's words are others", luck(ok));
    TAP(good, "ok");
    return tap_done();
}
EOT
open my $file, '>', "$folder/x.c" or die "$folder/x.c: $!\n";
print $file $program;
close $file or die "$folder/x.c: $!\n";
my $cc = join ' ', $ENV{CC} // 'cc', map { $ENV{$_} // () } qw(CFLAGS LDFLAGS);
is system("$cc -std=c11 -Isrc -Itests '$folder/x.c' '$build/libsupport.a' -lm -o '$folder/x'"), 0,
  'it compiles' or BAIL_OUT('no harness');

my $parser = TAP::Parser->new({exec => ['sh', '-c', "'$folder/x' 2>/dev/null"]});
my ($tests, @yaml) = (0);
while (my $result = $parser->next) {
    push @yaml, $result->data if $result->is_yaml;
    next if !$result->is_test;
    $tests++;
    my ($expect) = $result->description =~ /(ok|not)\)?$/;
    is $result->is_actual_ok ? 'ok' : 'not', $expect, "test point $tests";
}
is $tests, () = $program =~ /^    (?:TAP|REFUSES)\(/mg, 'none is lost';
is @yaml, () = $program =~ /^    \w+\(.*\bnot[")]/mg, 'each failure has its YAML';
is_deeply [map { $_->{got} } @yaml[-@texts .. -1]], \@texts, 'and its values are as they were';
is join("\n", map { $_->{error} // () } @yaml), join("\n", 'compares nothing',
    'ends with signal 11, Segmentation fault', 'ends with status 0', 'ends with status 7',
    'ends with status 2', ('written to beyond its end') x 3,
    'the function has changed its input', 'written to beyond its end',
    'no end in 2 s: is there an endless loop?', ('not run: a test before it has no end') x 2,
    'no end in 1 s: is there an endless loop?', 'not run: a test before it has no end'),
  'which say what is wrong';
is_deeply [$parser->parse_errors], [], 'prove can read it all';
isnt $parser->exit, 0, 'and the program ends with a failure';

done_testing;
