#!/usr/bin/env perl
# What is reported of a submission has the form that its readers take, whatever its code has
# printed; and what grades elsewhere does so, in the folders that each system has, and gives
# each submission its due. What a submission leaves where results are due is none.

use strict;
use warnings;
use utf8;
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use JSON::PP;
use Assignment;
use Chapter;
use Report;
use Test::More;
use Text;
use Unpack qw(unpacked);

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CONF CHAPTER NAME FORMAT)};
$ENV{SOURCE_DATE_EPOCH} = 1_000_000_000;
my $make = $ENV{MAKE} // 'make';
my $folder = tempdir(CLEANUP => 1);
my $build = $ENV{BUILD} // 'build';
chmod 0711, $folder;

# ---- Texts that hurt

my $HOSTILE = join '', map({ chr } 0 .. 31, 127 .. 255), "]]>-->\r\n\"'\\\\x41<a b='c'>\n...\nok 1 - # SKIP\n",
  "=1+1,\t;\e[2J\x{202e}\x{2028}\x{fffe}\x{d800}\x{1f600}★", 'x' x 10_000;
my $BYTES = "=cmd|'/C calc'!A0\xff\xc3\xa9\xc3(\xed\xa0\x80\n" . "\xe2\x98" x 5_000;
sub submission {
    my ($text) = @_;
    my @tests = map { {name => "weighted_sum: $_", ok => $_ < 2, told => $_ < 2 ? {} : {given => "n = 2\nof\nfour\nlines", gave => '[1, 2]',
        due => '[1, 3]', wrong => 'entry 1', printed => "1\n2\n3\n4\n5" . ($_ == 2 ? $text : '')}} } 1 .. 30;
    my @exercises = (['2.1', 'softmax', 3, 'done', ''], ['2.2', 'weighted_sum', 3, 'wrong', "weighted_sum: 2: entry 1$text", "rows and columns$text"],
        ['2.3', 'softmax_online', 4, 'waits', 'waits for exercise 2.1'], ['3.1', 'project_qkv', 2, 'uncompiled', "does not compile: expected ';'$text"]);
    return {name => 'hw1', who => 'alice', seconds => 3.2, score => 3, max => 12, open => undef,
        compiled => {'03' => "03_qkv.c:9:1: error: expected ';'$text\n"}, exercises => [map { {id => $_->[0], function => $_->[1],
            chapter => sprintf('%02d', $_->[0]), title => 'Shares', points => $_->[2], earned => $_->[3] eq 'done' ? $_->[2] : 0,
            state => $_->[3], message => $_->[4], diagnosis => $_->[5], tests => $_->[3] eq 'wrong' ? \@tests : []} } @exercises]};
}

# The form of Gradescope's JSON: what has a letter is a string. Returns what each test earned.
sub gradescope {
    my ($json) = @_;
    my $all = JSON::PP->new->decode($json);
    is join(' ', sort keys %$all), 'execution_time output output_format score stdout_visibility tests visibility', 'gradescope: its form';
    is_deeply [@$all{qw(output_format visibility stdout_visibility)}], [qw(text visible hidden)], '... its words';
    for (@{$all->{tests}}) {
        my $is_form = join(' ', sort keys %$_) eq 'max_score name number output output_format score status tags visibility'
          && $_->{status} =~ /^(?:passed|failed)$/ && "$_->{output_format} $_->{visibility}" eq 'text visible' && ref $_->{tags} eq 'ARRAY';
        ok $is_form, '... and of each test';
    }
    like $json, qr/^ "score" : \d+,?$/m, '... with numbers';
    return $all->{score} . ': ' . join ' ', map { "$_->{score}/$_->{max_score}" . ($_->{status} eq 'passed' ? '' : '-') } @{$all->{tests}};
}

for my $result (map { submission($_) } '', $HOSTILE, $BYTES) {
    is gradescope(Report::write('gradescope', $result)), '3: 3/3 0/3- 0/4- 0/2-', '... what was earned';
    unlike Report::write($_, $result), qr/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\x{202a}-\x{202e}\x{2066}-\x{2069}\x{fffe}\x{ffff}]/, "$_: no controls"
      for Report::formats();
    like Report::write('table', $result), qr{^score: 3 / 12\n}m, 'table: the score';
}
is Report::write('table', submission('')), <<'END', 'table: how far all is, what the compiler says, and the first test that fails';
hw1, alice

2.1 softmax          3 / 3   done
2.2 weighted_sum     0 / 3   wrong       29 of 30 tests fail
2.3 softmax_online   0 / 4   waits       waits for exercise 2.1
3.1 project_qkv      0 / 2   uncompiled  does not compile: expected ';'
score: 3 / 12

chapter 03 does not compile:
03_qkv.c:9:1: error: expected ';'

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

# What is said of a mistake that has a name, of one that has none, and of no answer.
for (['no answer: no end', [undef, 'no end in 5 s: is there an endless loop?']],
     ['no answer: Segmentation fault', [undef, 'Segmentation fault: memory was used']],
     ['no answer: the program ended', [undef, 'the program ended by itself, with status 0']],
     ['a mistake without a name, in the test single', [undef, 'x[0]: 1 where 2 is due']],
     ['the weights are forgotten', [undef, 'Aborted'], ['the weights are forgotten', 'x[0]: 3 where 2 is due']]) {
    my ($words, @made) = @$_;
    my @class = map { {result => {exercises => [{id => '2.1', state => 'wrong', diagnosis => $_->[0], message => 'x',
        tests => [{ok => 0, name => 'softmax: single', told => {wrong => $_->[1]}}]}]}} } @made;
    my ($line) = Report::lines({exercises => [{id => '2.1', function => 'softmax'}]}, @class);
    is $line =~ s/.*most often: //r, $words, "what is said most often: $words";
}
is Text::csv(['x'], ['=1+1', "\t1", '-3', 'a; =b', '"a"', undef]), qq{x\r\n"'=1+1","'\t1",-3,"a;' =b","""a""",\r\n}, 'a table, in which no cell is a formula';

# ---- What grades elsewhere. In a book that says where it is; with what was built of this one, as
# it is older than what is packed, so that nothing is compiled again.

my $book = "$folder/the [book]";
make_path($book, "$folder/temp", "$folder/build");
system('cp', '-Rp', (grep { -e } qw(Makefile make LICENSE.md book.md chapters golden src tools tests)), $book) == 0 or die "no copy\n";
system('cp', '-Rp', (grep { -e } map {"$build/$_"} qw(grader mistakes obj code tests flags libattention.a libsupport.a)), "$folder/build");
my $plain = Text::of_file('book.md');
Chapter::save("$book/book.md", split /\n/, $plain =~ s{^(version: ).*}{$1'1.2'\nrepository: https://github.com/a-teacher/the.book}mr);
my $conf = Chapter::save("$folder/hw 1.conf", 'name = hw1', 'title = Scores ${{ secrets.MINE }} & <é> {{more}}  # it hurts', 'chapters = 02',
    'points 2.3 = 9', 'seconds = 20');
my $out = "$folder/out";
sub packed { return `'$book/tools/teach/autograder' '$conf' '$out' 2>&1` }
is packed(), "$out: hw1-gradescope.zip and hw1-github grade 3 exercises, 15 points\n", 'an assignment is packed';
copy("$out/hw1-gradescope.zip", "$folder/first.zip");
packed();
is system('cmp', "$out/hw1-gradescope.zip", "$folder/first.zip"), 0, '... and again, to the same bytes';
is join(' ', map { s{.*/}{}r } glob "'$out'/*"), 'hw1-github hw1-gradescope.zip', '... nothing else is left';

my $path = "$out/hw1-github/.github/workflows/grade.yml";
my $yaml = Text::of_file($path);
is join(' ', $yaml =~ /(\$\{\{.*?\}\})/g), q(${{ '${{' }}), 'a workflow, in which a title is but text';
is_deeply [map { [$yaml =~ /^\s*$_: +(.*)$/mg] } qw(repository ref persist-credentials contents)],
  [['a-teacher/the.book'], ['v1.2'], ['false', 'false'], ['read']], '... with the book at its version, which may but read';
my ($given, $run) = $yaml =~ /^ {10}ASSIGNMENT: \|\n((?: {12}.*\n)+) {8}run: \|\n((?: {10}.*\n)+)\z/m or die "no step\n";
$given = $given =~ s/^ {12}//mgr =~ s/\$\{\{ '(\$\{\{)' \}\}/$1/gr;
SKIP: {
    my ($linter) = grep { -x } "build/linter/bin/actionlint", map {"$_/actionlint"} split /:/, $ENV{PATH};
    skip 'actionlint is not here', 1 if !defined $linter;
    is `'$linter' '$path' 2>&1`, '', '... actionlint minds nothing';
}

my $chapter = Chapter->load('chapters/02_softmax.c');
my @exercises = grep { $_->{function} } @{$chapter->{exercises}};
my @lies = $chapter->emptied(@exercises);
my ($include) = grep { $lies[$_] =~ m{^#include "attention/} } 0 .. $#lies;
my $lie = '::error::lie {\"score\": 15}';
$lies[$include] .= qq{\n#include <stdio.h>\n__attribute__((constructor)) static void tell(void) { puts("$lie"); }}
  . qq{\n__attribute__((constructor)) static void put(void) { FILE *f = fopen("$folder/autograder/results/results.json", "w"); if (f) fputs("$lie", f); }};
sub submit {
    my ($who, $to) = @_;
    remove_tree($to);
    make_path("$to/chapters", "$folder/autograder/results");
    Chapter::save("$to/chapters/02_softmax.c", $who eq 'right' ? @{$chapter->{lines}} : $who eq 'half' ? $chapter->emptied(@exercises[1, 2]) : @lies);
    Chapter::save("$folder/autograder/results/results.json", $lie) if $who eq 'lies';
}
my %due = (right => '15: 3/3 3/3 9/9', half => '3: 3/3 0/3- 0/9-', lies => '0: 0/3- 0/3- 0/9-');
@ENV{qw(BUILD AUTOGRADER GITHUB_WORKSPACE RUNNER_TEMP)} = ("$folder/build", map {"$folder/$_"} qw(autograder workspace temp));

unpacked("$out/hw1-gradescope.zip", "$folder/autograder/source");
copy("$folder/autograder/source/run_autograder", "$folder/autograder/run_autograder");
is system("sh '$folder/autograder/source/setup.sh' >'$folder/said' 2>&1"), 0, 'gradescope: is set up' or diag Text::of_file("$folder/said");
my $results = "$folder/autograder/results/results.json";
for my $who (sort keys %due) {
    submit($who, "$folder/autograder/submission");
    is `sh '$folder/autograder/run_autograder' 2>&1`, '', "gradescope, $who: is graded";
    is gradescope(Text::of_file($results)), $due{$who}, '... with the points that are due';
}
submit('lies', "$folder/autograder/submission");
unlink "$folder/autograder/source/hw1.conf";
isnt system("sh '$folder/autograder/run_autograder' >/dev/null 2>&1"), 0, 'gradescope: what cannot be graded is no zero';
ok !-e $results, '... but has no result';

make_path("$folder/workspace");
system('cp', '-Rp', $book, "$folder/workspace/book");
Chapter::save("$folder/step", "cd '$folder/workspace/book'", split /\n/, $run =~ s/^ {10}//mgr);
utf8::encode($ENV{ASSIGNMENT} = $given);
for my $who (sort keys %due) {
    submit($who, "$folder/workspace/submission");
    my $said = `bash -e '$folder/step' 2>&1`;
    is $? >> 8, $who eq 'right' ? 0 : 1, "github, $who: its status";
    my ($points) = $due{$who} =~ /(\d+)/;
    like $said, qr{\A::stop-commands::(\w{32})\n.*^score: $points / 15\n.*^::\1::\n\z}ms, '... and its points, in which nothing is a command';
}
$ENV{ASSIGNMENT} = 'none';
my $said = `bash -e '$folder/step' 2>&1`;
is $? >> 8, 2, 'github: what cannot be graded is no zero' or diag $said;

# ---- A book that does not say where it is; and what is refused.

Chapter::save("$book/book.md", split /\n/, $plain);
like packed(), qr/^.*hw1-gradescope\.zip grade .*\nFor GitHub, book\.md's title block must say/, 'a book that does not say where it is';
ok !-e "$out/hw1-github", '... has no workflow, nor that of another time';
Chapter::save($conf, 'name = hw1', 'exercises = 2.9');
like packed(), qr/\Atools\/teach\/autograder: [^\n]*hw 1\.conf:2: exercise 2\.9 is not in chapter 2[^\n]*\n\z/, 'what is wrong is refused';
is join(' ', map { s{.*/}{}r } glob "'$out'/*"), 'hw1-gradescope.zip', '... with nothing left behind';

done_testing;
