#!/usr/bin/env perl
# The reports of a submission: each has the form that its readers take, whatever a
# student's code has printed; nothing to grade is never full marks.

use strict;
use warnings;
use utf8;
use Encode qw(encode);
use List::Util qw(sum0);
use Formats qw(%FORM %EARNED faults read_json);
use Report;
use Test::More;
use Text;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);

# ---- Submissions, with what was printed: nothing odd, and all that hurts.

my $HOSTILE = join '', map({ chr } 0 .. 31, 127 .. 255), "]]>-->\r\n\"'\\\\x41<a b='c'>\n...\nok 1 - # SKIP\n",
  "=1+1,\t;\e[2J\x{202e}\x{2028}\x{fffe}\x{d800}\x{1f600}★", 'x' x 10_000;
my $BYTES = "=cmd|'/C calc'!A0\xff\xc3\xa9\xc3(\xed\xa0\x80\n" . "\xe2\x98" x 5_000;

sub exercise {
    my ($id, $function, $points, $state, %more) = @_;
    return {id => $id, chapter => sprintf('%02d', $id), function => $function, title => 'Shares that add up to 1',
        points => $points, earned => $state eq 'done' ? $points : 0, state => $state, waits_for => undef,
        message => '', diagnosis => undef, tests => [], %more};
}

sub submission {
    my ($compiled, @exercises) = @_;
    return {name => 'hw1', who => 'alice', seconds => 3.2, compiled => $compiled,
        score => (sum0 map { $_->{earned} } @exercises), max => (sum0 map { $_->{points} } @exercises),
        exercises => \@exercises};
}

sub submissions {
    my ($text) = @_;
    my @tests = map { {name => "weighted_sum: $_", ok => $_ < 2, told => $_ < 2 ? {} : {given => "n = 2\nof\nfour\nlines", gave => '[1, 2]',
        due => '[1, 3]', wrong => 'entry 1', printed => "1\n2\n3\n4\n5" . ($_ == 2 ? $text : '')}} } 1 .. 30;
    return (submission({}, exercise('2.1', 'softmax', 3, 'done'),
            exercise('2.2', 'weighted_sum', 3, 'wrong', message => "weighted_sum: 2: entry 1$text", diagnosis => "rows and columns$text", tests => \@tests),
            exercise('2.3', 'softmax_online', 4, 'waits', waits_for => '2.1'), exercise('3.1', 'project_qkv', 2, 'missing')),
        submission({'02' => "02_softmax.c:9:1: error: expected ';'$text\n"},
            exercise('2.1', 'softmax', 3, 'uncompiled'), exercise('3.1', 'project_qkv', 2, 'done')),
        submission({}, map { exercise($_->[0], $_->[1], 3, 'empty', message => $text) } ['2.1', 'softmax'], ['2.2', 'weighted_sum']));
}

my ($half, $broken, $empty) = my @plain = submissions('');
my $right = submission({}, exercise('2.1', 'softmax', 3, 'done'), exercise('3.1', 'project_qkv', 2, 'done'));
my @all = ($right, @plain, submissions($HOSTILE), submissions($BYTES));

# ---- Each format: its form, what was earned, and no commands to a terminal.

my $BAD = qr/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\x{202a}-\x{202e}\x{2066}-\x{2069}\x{fffe}\x{ffff}]/;
for my $result (@all) {
    for my $format (sort keys %FORM) {
        my $value = eval { read_json($format, Report::write($format, $result)) };
        is join("\n", $@ || faults($value, $FORM{$format}, $format)), '', "$format: its form";
        is_deeply [map { [$_->[0], $_->[1] ? 1 : 0] } $EARNED{$format}->($value)],
          [map { [$_->{earned}, $_->{state} eq 'done' ? 1 : 0] } @{$result->{exercises}}], '... what was earned';
    }
    unlike Report::write($_, $result), $BAD, "$_: no controls" for qw(table csv gradescope);
    like Report::write('table', $result), qr{^score: $result->{score} / $result->{max}\n(?:\n|\z)}m, 'table: the score';
    my $csv = Report::write('csv', $result);
    is $csv =~ s/\A(?:(?:"(?:[^"]|"")*"|[^",\r\n]*)(?:,|\r\n))*\z//r, '', 'csv: as RFC 4180 has it';
    unlike $csv, qr/(?:^|,)"?[=+@\t]/m, '... with no formulas';
}
is_deeply [map { read_json('github', Report::write('github', $_))->{status} } $right, $half, $broken, $empty],
  [qw(pass error error fail)], 'github: the status of all';
is Report::write('table', $half), <<'END', 'table: how far all is, and then the first test that fails';
hw1, alice

2.1 softmax          3 / 3   done
2.2 weighted_sum     0 / 3   wrong       29 of 30 tests fail
2.3 softmax_online   0 / 4   waits       waits for exercise 2.1
3.1 project_qkv      0 / 2   missing     project_qkv is missing
score: 3 / 12

2.2 weighted_sum
    perhaps: rows and columns
    FAILED  weighted_sum: 2
            wrong    entry 1
            given    n = 2
                     of
                     four
                     lines
            gave     [1, 2]
            due      [1, 3]
            printed  ...
                     3
                     4
                     5
    and 28 more
END
like Report::write('table', $broken), qr/^2\.1 softmax .*uncompiled  chapter 02 does not compile: .*expected ';'\n.*^chapter 02 does not compile:\n/ms,
  '... what does not compile, in the words of the compiler';
my $large = submission({}, map { my $k = $_; exercise("2.$k", "f$k", 1, 'wrong', message => '"' x 1e4,
    tests => [map { {name => "f$k: $_", ok => 0, told => {map { $_ => "\"\\\n" x 4e3 } qw(given gave due wrong)}} } 1 .. 9]) } 1 .. 14);
cmp_ok length(encode('UTF-8', Report::write('github', $large))), '<=', 1e5, 'github: as much as an environment takes';

# ---- The text that others have chosen, as all tools write it.

is Text::safe("a\r\n\e[2J\x{202e}\t\x{fffe}"), "a\n\\x1B[2J\\x{202E}\t\\x{FFFE}", 'text without controls';
is Text::safe("\xc3\xa9\xff"), 'é\xFF', '... from bytes, too';
is Text::safe("\xc3\xa9" x 9, 3), 'é ... (the rest is left out)', '... so much of it, and no half characters';
is Text::line("a\n b\t\tc"), 'a b c', 'one line';
is Text::escaped(q{<a b="c">&'é}), '&lt;a b=&quot;c&quot;&gt;&amp;&#39;é', 'text in HTML';
is Text::csv(['x'], ['=1+1', "\t1", '-3', 'a; =b', '"a"', undef]), qq{x\r\n"'=1+1","'\t1",-3,"a;' =b","""a""",\r\n}, 'a table, in which no cell is a formula';

# ---- What is refused.

for (['csv', {%$right, exercises => [], score => 0, max => 0}, 'hw1: there is nothing to grade'],
     ['xml', $right, "there is no format 'xml': one of csv github gradescope table is needed"],
     ['table', {%$right, score => 6}, 'a score of 6 / 5 is not the sum of its exercises, 5 / 5'],
     ['table', {%$right, exercises => [exercise('2.1', 'softmax', 3, 'right')]}, "exercise 2.1 is 'right'"],
     (map { ['table', {%$right, exercises => [exercise('2.1', 'softmax', @$_[0, 1], earned => $_->[2])]}, 'exercise 2.1 earns'] }
          [3, 'wrong', 3], [3, 'done', 2], [0, 'done', 0], [3, 'wrong', 0.5])) {
    my ($format, $result, $message) = @$_;
    ok !eval { Report::write($format, $result) }, "refused: $message";
    like $@, qr/^[^\n]*\Q$message\E[^\n]*\n\z/, '... in one line';
}

done_testing;
