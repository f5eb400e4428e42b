#!/usr/bin/env perl
# What is said of a wrong answer: the known mistake that makes just these values,
# and nothing where there is none. `make mistakes` asks it of every mistake.

use strict;
use warnings;
use utf8;
use File::Temp qw(tempdir);
use Chapter;
use Diagnosis;
use Mistakes;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build = $ENV{BUILD} // 'build';
delete @ENV{qw(RUN_UNDER FIGURES TAP_SMALL TAP_TELL)};
my $folder = tempdir(CLEANUP => 1);
my ($compile, $link) = Chapter::compiler();

# ---- A failed test as a line, and which lines are the same.

sub told { return Diagnosis::told({told => {@_}}) }
is told(wrong => 'x[1]: 0.5 where 0.25 is due: 0.25 apart, at most 1e-6 is allowed'), 'x[1]: 0.5 where 0.25',
  'what is told: a number, and what is due';
is told(wrong => "x: nan where 1 is due: not a number, as comes of 0/0\nx (size 3): something", fail => '1 of 3'),
  'x: nan where 1; x (size 3): something ~ 1 of 3', '... in all lines, and how many fail';
is told(wrong => 'Segmentation fault: memory was used'), 'Segmentation fault', '... a crash';
is Diagnosis::told({name => 'f: x', told => {wrong => 'refused, with status 2', printed => $_->[0]}}), $_->[1],
  "... a refusal by $_->[2]" for ["x.c: f: own words\n", 'refused, with', 'the function itself'],
  ["debug\nx.c: g: 2 rows\n", 'refused by g: 2 rows', 'another one'];
is told(wrong => "Segmentation fault: it should have been refused; it went on and crashed"), 'not refused',
  '... a crash of what should have been refused';
isnt told(wrong => 'x', gave => "x (2) =\n [$_->[0]]"), told(wrong => 'x', gave => "x (2) =\n [$_->[1]]"),
  "... all of a small array: $_->[0] is not $_->[1]" for ['1, 2', '2, 1'], ['1, -2', '1, 2'], ['nan, 1', 'inf, 1'];

for (['x[1]: 0.5 where 0.25', 'x[1]: 0.50001 where 0.25', 1, 'another order of sums'],
     ['x[1]: 0.5 where 0.25', 'x[1]: 0.501 where 0.25', '', 'another number'],
     ['x[1]: 0.5 where 0.25', 'x[2]: 0.5 where 0.25', '', 'another place'],
     ['x: 0.5000008 where 0.5', 'x: 0.5000003 where 0.5', '', 'nearly right, and otherwise wrong'],
     ['x: 0.5000008 where 0.5', 'x: 0.50000077 where 0.5', 1, 'nearly right, and as wrong'],
     ['x: nan where 1', 'x: inf where 1', '', 'another kind of none'],
     ['x: 1 where 2 ~ 5 of 9', 'x: 1 where 2 ~ 6 of 9', '', 'more that fail'],
     ['x: 1 where 2 ~ 50 of 90', 'x: 1 where 2 ~ 51 of 90', 1, 'one more of many that fail'],
     ['x: 1 where 2 ~ 40.1', 'x: 1 where 2 ~ 41.1', '', 'another number further on']) {
    my ($one, $other, $agree, $what) = @$_;
    is !!Diagnosis::agree($one, $other), !!$agree, "$what is " . ($agree ? 'the same' : 'not the same');
}

# ---- Answers to the exercises of two chapters.

# What tools/learn/progress says of a chapter with these lines, compiled otherwise than by
# what has made the table.
sub progress {
    my ($chapter, @lines) = @_;
    my $source = Chapter::save("$folder/$chapter->{name}.c", @lines);
    my $said = `$compile -O0 -w -Dmain=main_$chapter->{number} '$source' $build/tests/$chapter->{name}.o \\
      $build/libattention.a $link -o '$folder/tests' 2>&1`;
    is $said, '', 'it compiles';
    $said = `tools/learn/progress '$source' '$folder/tests' 2>&1`; # all of it as one text
    return $said;
}
sub perhaps { return join ' | ', $_[0] =~ /^        (?:perhaps |or      ) (.*)/mg }

my %chapter = map { $_ => Chapter->load(glob "chapters/${_}_*.c") } qw(02 06);

# The lines with other bodies for functions.
sub with {
    my ($number, %body) = @_;
    my @lines = @{$chapter{$number}{lines}};
    for my $function (keys %body) {
        my ($open, $close) = $chapter{$number}->body($function);
        @lines[$open + 1 .. $close - 1] = ($body{$function} =~ s/\n/ /gr, ('') x ($close - $open - 2));
    }
    return ($chapter{$number}, @lines);
}

my $unscaled = <<'END';
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = m - 1; j >= 0; j--) {
            double s = 0;
            for (int k = d_k - 1; k >= 0; k--) s += (double)query[i][k] * (double)key[j][k];
            scores[i][j] = (float)s;
        }
        double top = (double)scores[i][0];
        for (int j = 0; j < m; j++) if (scores[i][j] > top) top = (double)scores[i][j];
        for (int j = 0; j < m; j++) sum += exp((double)scores[i][j] - top);
        for (int j = 0; j < m; j++) weights[i][j] = (float)(exp((double)scores[i][j] - top) / sum);
        for (int k = 0; k < d_v; k++) {
            double c = 0;
            for (int j = 0; j < m; j++) c += (double)weights[i][j] * (double)value[j][k];
            context[i][k] = (float)c;
        }
    }
END
my $columns = 'for (int k = 0; k < d; k++) { context[k] = 0; for (int j = 0; j < n; j++) context[k] += weights[j] * value[k][j]; }';
my $said = progress(with('06', attention => $unscaled));
like perhaps($said), qr/^the scores are not scaled(?: \| .*)?$/, 'a known mistake in words of its own' or diag $said;
like $said, qr/^        wrong    .*\n        perhaps  the scores are not scaled$/m, '... stands below what is wrong';
is perhaps(progress(with('06', attention => $unscaled =~ s/\(float\)s;/(float)(s \/ 3);/r))), '', 'another mistake gets no name';
$said = progress(with('02'));
is perhaps($said), '', 'a right answer gets none';
is perhaps(progress(with('02', weighted_sum => ''))), 'the context is not set to 0 first | nothing is written',
  'an answer that does nothing, and one that looks alike';
is perhaps(progress(with('02', weighted_sum => $columns =~ s/value/1.5f * value/r))), '', 'nor one like a known mistake';
$said = progress(with('02', weighted_sum => $columns,
    softmax => 'if (n < 1) REFUSE("none"); for (int j = 0; j < n; j++) { weights[j] = expf(scores[j]); } '
      . 'double sum = 0; for (int j = 0; j < n; j++) sum += weights[j]; '
      . 'for (int j = 0; j < n; j++) weights[j] = (float)((double)weights[j] / sum);'));
is perhaps($said), 'the largest score is not subtracted | columns are mixed instead of rows', 'two mistakes in two exercises' or diag $said;

# ---- All tests of the exercise must agree, and one with a number.

my ($mistake) = grep { $_->{name} eq 'columns are mixed instead of rows' } @{Diagnosis::load('.', '02')};
my ($of, $first) = ($mistake->{fails}, sort keys %{$mistake->{fails}});
ok Diagnosis::fits($of, {%$of, passes => undef}), 'what fits';
ok !Diagnosis::fits($of, {%$of, $first => undef}), '... no longer when a test passes';
ok !Diagnosis::fits($of, {%$of, more => 'x: 1 where 2'}), '... when another fails';
ok !Diagnosis::fits($of, {%$of, $first => 'x: 1 where 2'}), '... when one tells something else';
ok !Diagnosis::fits({a => $_}, {a => $_}), "$_: an answer that is none fits too much"
  for 'Segmentation fault', 'no end', 'refused, with';
is_deeply [sort keys %{Diagnosis::of_tests('f', map { {ok => 0, empty => [], told => {}, %$_} }
        {name => 'f: a'}, {name => 'g: b'}, {name => 'f: c', empty => ['1.1']}, {name => 'f: d', told => {wrong => 'not run: x'}})}],
  ['a'], "an exercise's own tests count, and of them those that were run";

# ---- What is refused.

is_deeply(Diagnosis::load("$folder/none", '99'), [], 'of a chapter that has no table, nothing is said');
for (["softmax\n- a\n", qr/softmax: a mistake is a heading, such as/],
     ["02 softmax: x\n+ b\n", qr/x: a mistake is a heading, such as/],
     ["02 softmax: x\n- float largest = scores[0];\n+ float largest = scores[0];\n", qr/x: changes nothing/],
     ["02 softmax: x\n- a\n\n02 softmax: x\n- a\n", qr/x: is in the file already/],
     ["02 soft: x\n- a\n", qr/no function soft /],
     ["02 softmax: x\n- no such line\n", qr/'no such line' stands in 0 places of softmax, not in 1/]) {
    my ($text, $message) = @$_;
    Chapter::save("$folder/list", split /\n/, $text);
    ok !eval { Mistakes::planted($chapter{'02'}, $_) for Mistakes::load("$folder/list"); 1 }, 'refused: ' . $text =~ s/\n/ /gr;
    like $@, $message, '... which is said';
}

# ---- One of which most tests tell, and something else.

my %most = map { $_ => "x: $_ where 9" } 1 .. 4;
my $known = [{function => 'f', name => 'one', fails => {%most, more => '1 where 2'}}];
is join(' | ', Diagnosis::names($known, 'f', $_->[1])), $_->[0], $_->[2]
  for ['one', {%most, more => '1 where 2'}, 'all tell of it'],
  ['one, and something else besides', {%most, more => '3 where 2'}, 'most tell of it'],
  ['one, and something else besides', {%most, more => 'Segmentation fault', other => 'x: 1 where 2'}, '... two for each other one'],
  ['', {%most, 4 => undef, more => '3 where 2'}, '... and no fewer'],
  ['', {1 => $most{1}, 2 => $most{2}, more => '3 where 2'}, '... three at least'],
  ['', {1 => $most{1}, 2 => $most{2}, 3 => 'Segmentation fault', more => 'x'}, '... with values'];

# ---- Two mistakes in one function, each with tests of its own.

my $two = [{function => 'f', name => 'one', fails => {a => '1 where 2 ~ 1 of 3', c => '5 where 6'}},
    {function => 'f', name => 'two', fails => {b => '3 where 4'}}, {function => 'g', name => 'another', fails => {d => '7 where 8'}}];
my %both = (a => '1 where 2 ~ 1 of 3', b => '3 where 4', c => '5 where 6', d => undef);
is join(' | ', Diagnosis::names($two, 'f', \%both)), 'one, and two', 'two mistakes at once';
is join(' | ', Diagnosis::names($two, 'f', {%both, b => undef})), 'one', '... or one of them';
is join(' | ', Diagnosis::names($two, 'f', {%both, b => '9 where 4'})), '', '... or none, where a value is another';
is join(' | ', Diagnosis::names($two, 'f', {%both, b => undef, d => 'not refused'})), 'one', '... and one that refuses nothing besides';
is join(' | ', Diagnosis::names($two, 'f', {%both, d => '7 where 8'})), '', '... and none of another function';

done_testing;
