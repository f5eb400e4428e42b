#!/usr/bin/env perl
# What make test-NN says of a wrong answer: the known mistake that makes just these values,
# and nothing where there is none; and what is refused in the table of mistakes.

use strict;
use warnings;
use utf8;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use JSON::PP qw(encode_json);
use Chapter;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build = $ENV{BUILD} // 'build';
delete @ENV{qw(RUN_UNDER FIGURES TAP_SMALL TAP_TELL EXERCISE)};
my $folder = tempdir(CLEANUP => 1);
my ($compile, $link) = Chapter::compiler();

sub perhaps { return join ' | ', $_[0] =~ /^        (?:perhaps |or      ) (.*)/mg }

# ---- What tests tell, and how near it must be to what a known mistake makes them tell.

mkdir "$folder/mistakes";

# The name that is told where mistakes of softmax, each {name, test => what it tells}, are
# known, and the tests say this; a test without words passes.
sub named {
    my ($known, %says) = @_;
    my @known = map { my %fails = %$_; {function => 'softmax', name => delete $fails{name}, fails => \%fails} } @$known;
    Chapter::save("$folder/mistakes/02.json", encode_json(\@known));
    my ($k, @lines) = (0);
    for my $test (sort keys %says) {
        my ($wrong, $fail, $gave) = split / ~ /, $says{$test};
        push @lines, ('not ' x !!$wrong) . 'ok ' . ++$k . " - softmax: $test";
        push @lines, '  ---', qq(  wrong: "$wrong"), $fail ? qq(  fail: "$fail") : (), $gave ? qq(  gave: "$gave") : (), '  ...' if $wrong;
    }
    chmod 0755, Chapter::save("$folder/says", '#!/bin/sh', "cat <<'END'", @lines, "1..$k", 'END', 'exit 1');
    return perhaps(scalar `BUILD='$folder' tools/learn/explain chapters/02_softmax.c '$folder/says' 2>&1`);
}

for (['x[1]: 0.5 where 0.25', 'x[1]: 0.5 where 0.25 is due: 0.25 apart, at most 1e-6 is allowed', 1, 'the same number'],
     ['x[1]: 0.5 where 0.25', 'x[1]: 0.50001 where 0.25', 1, 'another order of sums'],
     ['x[1]: 0.5 where 0.25', 'x[1]: 0.501 where 0.25', '', 'another number'],
     ['x[1]: 0.5 where 0.25', 'x[2]: 0.5 where 0.25', '', 'another place'],
     ['x: 0.5000008 where 0.5', 'x: 0.5000003 where 0.5', '', 'nearly right, and otherwise wrong'],
     ['x: 0.5000008 where 0.5', 'x: 0.50000077 where 0.5', 1, 'nearly right, and as wrong'],
     ['x: nan where 1', 'x: inf where 1', '', 'another kind of none'],
     ['x: 1 where 2 ~ 5 of 9', 'x: 1 where 2 ~ 6 of 9', '', 'more that fail'],
     ['x: 1 where 2 ~ 50 of 90', 'x: 1 where 2 ~ 51 of 90', 1, 'one more of many that fail'],
     ['x: 1 where 2 ~ 1 of 2 ~ 10', 'x: 1 where 2 ~ 1 of 2 ~ x (2) = [2, 2]', 1, 'the same further on'],
     ['x: 1 where 2 ~ 1 of 2 ~ 10', 'x: 1 where 2 ~ 1 of 2 ~ x (2) = [2, 3]', '', 'another number further on'],
     ['not refused', 'Segmentation fault: it should have been refused', 1, 'a crash of what should have been refused'],
     map { [$_, $_, '', "an answer that is none fits too much: $_"] } 'Segmentation fault', 'no end', 'refused, with') {
    my ($kept, $said, $is_named, $what) = @$_;
    is named([{name => 'it', a => $kept}], a => $said), $is_named && 'it', $what;
}
my %most = map { $_ => "x: $_ where 9" } 1 .. 4;
for (['', {%most, 1 => '', 2 => ''}, 'tests that pass where the mistake fails them'],
     ['it', {%most, more => 'should have been refused'}, 'a refusal may be missing besides'],
     ['', {%most, more => 'x: 3 where 2'}, 'something else besides']) {
    my ($name, $says, $what) = @$_;
    is named([{name => 'it', %most}], %$says), $name, $what;
}

# ---- Answers to exercises of two chapters, compiled otherwise than by what has made the table.

sub answered {
    my ($number, %body) = @_;
    my $chapter = Chapter->load(glob "chapters/${number}_*.c");
    my @lines   = @{$chapter->{lines}};
    for my $function (keys %body) {
        my ($open, $close) = $chapter->body($function);
        @lines[$open + 1 .. $close - 1] = ($body{$function}, ('') x ($close - $open - 2));
    }
    my $source = Chapter::save("$folder/$chapter->{name}.c", @lines);
    is `$compile -O0 -w -Dmain=main_$number '$source' $build/tests/$chapter->{name}.o $build/libattention.a $link -o '$folder/tests' 2>&1`, '', 'it compiles';
    return perhaps(scalar `tools/learn/explain '$source' '$folder/tests' 2>&1`);
}

my $unscaled = 'for (int i = 0; i < n; i++) { for (int j = m - 1; j >= 0; j--) { double s = 0; '
  . 'for (int k = d_k - 1; k >= 0; k--) s += (double)query[i][k] * (double)key[j][k]; scores[i][j] = (float)s; } '
  . 'softmax(m, scores[i], weights[i]); weighted_sum(m, d_v, weights[i], value, context[i]); }';
my $columns = 'for (int k = 0; k < d; k++) { context[k] = 0; for (int j = 0; j < n; j++) context[k] += weights[j] * value[k][j]; }';
like answered('04', attention => $unscaled), qr/^the scores are not scaled(?: \| .*)?$/, 'a known mistake in words of its own';
is answered('04', attention => $unscaled =~ s/\(float\)s;/(float)(s \/ 3);/r), '', 'another mistake gets no name';
is answered('02'), '', 'a right answer gets none';
is answered('02', weighted_sum => ''), 'the context is not set to 0 first | nothing is written', 'an answer that does nothing, and one that looks alike';
is answered('02', weighted_sum => $columns, softmax => 'if (n < 1) REFUSE("none"); double sum = 0; '
      . 'for (int j = 0; j < n; j++) sum += weights[j] = expf(scores[j]); '
      . 'for (int j = 0; j < n; j++) weights[j] = (float)((double)weights[j] / sum);'),
  'the largest score is not subtracted | columns are mixed instead of rows', 'two mistakes in two exercises';

# ---- What is refused in the table.

my ($root, $home) = (abs_path('.'), abs_path($build));
system("mkdir -p '$folder/book/tests/learn' && cd '$folder/book' && ln -s '$root'/chapters '$root'/golden '$root'/src . && ln -s '$home' build") == 0 or die;
sub planted {
    Chapter::save("$folder/book/tests/learn/mistakes.tsv", map { s/ \| /\t/gr } @_);
    return scalar `cd '$folder/book' && BUILD=build '$root/tools/learn/mistakes' chapters/02_softmax.c known.json build/libattention.a 2>&1`;
}
like planted('02 | softmax | x'), qr/^tests\/learn\/mistakes\.tsv:1: a row has a chapter, a function, what is wrong, and a text/, 'refused: a row that is none';
like planted('02 | softmax | x | a | b', '02 | softmax | x | a | b'), qr/:2: 'x' is in the table already/, '... the same twice';
my $said = planted('02 | soft | x | a | b', '02 | softmax | y | no such text | z', '02 | softmax | z | n < 1 | n  <  1');
like $said, qr/$_/, "... $_" for 'soft: x: .*no function soft ', "softmax: y: 'no such text' is in softmax 0 times; it must be there once",
  'softmax: z: no test of the exercise fails', '3 of 6 mistakes in the 3 exercises of chapter 02';
done_testing;
