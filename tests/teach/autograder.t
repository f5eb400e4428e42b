#!/usr/bin/env perl
# What grades an assignment elsewhere: packed twice, it has the same bytes; and run in
# the folders that each system has, it gives each submission its due, in the form that
# the system reads. What a submission leaves where results are due is none.

use strict;
use warnings;
use utf8;
use Digest::SHA;
use Encode qw(encode);
use File::Copy qw(copy);
use File::Find qw(find);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use Assignment;
use Chapter;
use Formats qw(%FORM %EARNED faults read_json unpacked);
use Test::More;
use Text;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS REF CONF CHAPTER)};
my $make = $ENV{MAKE} // 'make';
my $folder = tempdir(CLEANUP => 1);
my $build = $ENV{BUILD} // 'build';

sub copied {
    my ($to, @from) = @_;
    make_path($to);
    system('cp', '-Rp', '--', @from, $to) == 0 or die "no copy in $to\n";
}

# ---- A book that says where it is; and what was built of this one, as it is older than
# what is packed, so that nothing is compiled again.

my $book = "$folder/the [book]";
copied($book, qw(Makefile make LICENSE.md book.md chapters golden src tools));
copied("$book/tests", glob('tests/*.[ch]'), 'tests/learn');
copied("$folder/build", grep { -e } map {"$build/$_"} qw(grader mistakes obj code tests flags libattention.a libsupport.a));
my $plain = Text::of_file('book.md');
my $where = 'https://github.com/a-teacher/the.book';
my $placed = $plain =~ s{^(version: ).*}{$1'1.2'\nrepository: $where}mr;
Chapter::save("$book/book.md", split /\n/, $placed);
$ENV{SOURCE_DATE_EPOCH} = 1_000_000_000;

my $TITLE = 'Scores ${{ secrets.MINE }} & <é> {{more}}';
my $conf = Chapter::save("$folder/hw 1.conf", 'name = hw1', "title = $TITLE  # it hurts", 'chapters = 02',
    'points 2.3 = 9', 'due = 2026-12-01', 'seconds = 20');
sub packed {
    my ($conf, $out) = @_;
    my $said = `'$book/tools/teach/autograder' '$conf' '$out' 2>&1`;
    return ($? >> 8, $said);
}
my $out = "$folder/out";
my ($status, $said) = packed($conf, $out);
is $status, 0, 'an assignment is packed' or diag $said;
is $said, "$out: hw1-gradescope.zip and hw1-github grade 3 exercises, 15 points\n",
  '... which says what it is';

# Names, bytes, times and rights of all that is in a folder.
sub sums {
    my ($folder) = @_;
    my %sum;
    find({no_chdir => 1, wanted => sub {
        my @about = stat;
        $sum{substr $_, length $folder} = join ' ', sprintf('%o', $about[2]), $about[9],
          Digest::SHA->new(1)->addfile($_)->hexdigest if -f _;
    }}, $folder);
    return \%sum;
}
my $first = sums($out);
cmp_ok utime(1.2e9, 1.2e9, map { glob "$folder/the*/$_/*" } qw(chapters src)), q(>), 40, "files of another time";
{
    local $ENV{TZ} = 'Asia/Tokyo';
    is((packed($conf, $out))[0], 0, 'and again');
}
my %zip = map { $_ => delete $_->{'/hw1-gradescope.zip'} } $first, my $second = sums($out);
is_deeply $second, $first, '... the same files give the same folders';
my ($one, $other) = map { s/^\d+ \d+ //r } values %zip;
is $one, $other, '... and the same archive';
is join(' ', map { s{.*/}{}r } glob "$out/*"), 'hw1-github hw1-gradescope.zip',
  '... nothing else is left';
# ---- Submissions

my $chapter = Chapter->load('chapters/02_softmax.c');
my @exercises = grep { $_->{function} } @{$chapter->{exercises}};
my ($open) = $chapter->body('softmax');
my $LIES = '{"score": 1, "max_score": 15, "tests": [], "version": 1}';
my %SUBMISSION = (
    right => [[map { $_->{points} } @{Assignment::load($conf)->{exercises}}], @{$chapter->{lines}}],
    half => [[3, 0, 0], $chapter->emptied(@exercises[1, 2])],
);
for ($SUBMISSION{hostile}) {
    my @lines = $chapter->emptied(@exercises);
    my @places = map {"$folder/$_"} qw(autograder/results/results.json output);
    my $write = join ' ', map { qq{f = fopen("$_", "w"); if (f) fputs(lies, f), fclose(f);} } @places;
    my ($include) = grep { $lines[$_] =~ m{^#include "attention/} } 0 .. $#lines;
    $lines[$include] .= "\n#include <stdio.h>\n#include <stdlib.h>\nstatic const char lies[] = \""
      . $LIES =~ s/"/\\"/gr . "\";\nstatic void tell(void) { FILE *f; puts(lies); puts(\"ok 1 - softmax: all\"); "
      . "fflush(stdout); $write exit(0); }";
    $lines[$open + 1] = '    (void)n; (void)scores; (void)weights; tell();';
    $_ = [[0, 0, 0], @lines];
}

# Whoever is hostile submits more than was asked for, too.
sub submit {
    my ($who, $to) = @_;
    remove_tree($to);
    make_path("$to/chapters", "$to/results", "$to/tools/teach", "$to/book/tools");
    Chapter::save("$to/chapters/02_softmax.c", @{$SUBMISSION{$who}}[1 .. $#{$SUBMISSION{$who}}]);
    return if $who ne 'hostile';
    Chapter::save("$to/$_", $LIES) for qw(results/results.json result.json results.json output);
    for (qw(tools/teach/grade book/tools/grade setup.sh run_autograder grade hw1.conf Makefile)) {
        Chapter::save("$to/$_", '#!/bin/sh', "echo '$LIES'");
        chmod 0755, "$to/$_";
    }
}

# ---- Each system's folders: what it does before all, and for each submission; and where
# the result is then.

my %workflow;
my %SYSTEM = (
    gradescope => {
        prepare => sub {
            unpacked("$out/hw1-gradescope.zip", "$folder/autograder/source");
            copy("$folder/autograder/source/run_autograder", "$folder/autograder/run_autograder");
            make_path("$folder/autograder/results");
            return 'sh autograder/source/setup.sh';
        },
        from => 'autograder/submission', run => 'sh autograder/run_autograder',
        to => 'autograder/results/results.json',
        conf => 'autograder/source/hw1.conf'},
    github => {
        prepare => sub {
            copied("$folder/workspace", $book);
            rename "$folder/workspace/the [book]", "$folder/workspace/book";
            utime 1e9, 1e9, grep { -f } glob "$folder/workspace/book/{Makefile,*/*,*/*/*,*/*/*/*}";
            Chapter::save("$folder/step", "cd workspace/book", $workflow{run});
            return 'true';
        },
        from => 'workspace/submission', run => 'bash -e step', to => 'output'},
);
@ENV{qw(BUILD AUTOGRADER GITHUB_WORKSPACE RUNNER_TEMP GITHUB_OUTPUT)} = ("$folder/build",
    map {"$folder/$_"} qw(autograder workspace temp output));
make_path("$folder/temp");

# ---- The workflow, as GitHub would take it apart.

my $path = "$out/hw1-github/.github/workflows/grade.yml";
my $yaml = Text::of_file($path);
my %expressions = map { $_ => 1 } $yaml =~ /(\$\{\{.*?\}\})/g;
is_deeply [sort keys %expressions], [q(${{ '${{' }}), '${{ steps.grade.outputs.result }}'],
  'a workflow, in which a title is but text';
is_deeply [map { [$yaml =~ /^\s*$_: +(.*)$/mg] } qw(repository ref persist-credentials contents)],
  [['a-teacher/the.book'], ['v1.2'], ['false', 'false'], ['read']], '... with the book at its version, which may but read';
unlike $yaml =~ s/secrets\.MINE//r, qr/secrets|token/i, '... and has no secret';
like $yaml, qr{uses: classroom-resources/autograding-grading-reporter\@v1\n +env:\n +GRADE_RESULTS: .*\n +with:\n +runners: grade$}m,
  '... and hands its result on';
for my $key (qw(ASSIGNMENT run)) {
    my ($indent, $block) = $yaml =~ /^( *)$key: \|\n((?:\1  .*\n)+)/m or die "no $key\n";
    $workflow{$key} = $block =~ s/^$indent  //mgr =~ s/\$\{\{ '(\$\{\{)' \}\}/$1/gr;
}
SKIP: {
    my ($linter) = grep { -x } "build/linter/bin/actionlint", map {"$_/actionlint"} split /:/, $ENV{PATH};
    skip 'actionlint is not here', 1 if !defined $linter;
    is `'$linter' '$path' 2>&1`, '', '... actionlint minds nothing';
}

for my $format (sort keys %SYSTEM) {
    my %its = %{$SYSTEM{$format}};
    my ($before) = $its{prepare}->();
    local $ENV{ASSIGNMENT} = encode('UTF-8', $workflow{ASSIGNMENT}) if $format eq 'github';
    my $said = `cd '$folder' && $before 2>&1`;
    is $?, 0, "$format: is set up" or diag $said;
    my $settings = Assignment::load($its{conf} ? "$folder/$its{conf}" : Chapter::save("$folder/of.conf", $workflow{ASSIGNMENT}));
    is_deeply $settings, Assignment::load($conf), '... with the assignment as it was set';
    for my $who (qw(hostile right half)) {
        my ($due) = @{$SUBMISSION{$who}};
        submit($who, "$folder/$its{from}");
        unlink "$folder/output";
        $said = `cd '$folder' && $its{run} 2>&1`;
        is $?, 0, "$format, $who: is graded" or diag $said;
        my $text = Text::of_file("$folder/$its{to}");
        $format ne 'github' or $text =~ s/\Aresult=// or $text = '';
        my $value = eval { read_json($format, $text) };
        is join("\n", $@ || faults($value, $FORM{$format}, $format)), '', '... in its form';
        is_deeply [map { $_->[0] } eval { $EARNED{$format}->($value) }], $due, "... with the points that are due";
        is $said =~ /\Q$LIES\E/ ? 'printed' : '', '', '... nothing of what it prints is taken on' if $who eq 'hostile';
    }

    # Where grading is not possible, there is no result: neither the last one nor one that was submitted.
    submit('hostile', "$folder/$its{from}");
    unlink "$folder/output";
    unlink "$folder/$its{conf}" if $its{conf};
    $ENV{ASSIGNMENT} = 'none' if !$its{conf};
    system "cd '$folder' && $its{run} >said 2>&1";
    isnt $?, 0, "$format: what cannot be graded is no zero";
    is join(' ', glob "'$folder/$its{to}'*"), '', '... but has no result';
    }

# Some build the graders for each submission: no later chapter than is needed.
my $plan = `$make -n graders CHAPTER=02 BUILD='$folder/none' 2>&1`;
like $plan, qr{-o \S*/grader/02_softmax\.judge\b}m, 'the graders of a chapter';
is join(' ', grep { !/01_dot_product|02_softmax/ } $plan =~ m{ -o (\S*/obj/(?:\d\d|[A-D])_\w+\.o)}g), '', '... are compiled without those behind it';

# ---- Another version; a book that does not say where it is; and what is refused.

{
    local $ENV{REF} = 'fall/2026';
    packed($conf, $out);
    like Text::of_file($path), qr{^ +ref: fall/2026$}m, 'another version of the book';
}
Chapter::save("$book/book.md", split /\n/, $plain);
like +(packed($conf, $out))[1],
  qr/^.*hw1-gradescope\.zip grade .*\nFor GitHub, book\.md's title block must say/,
  'a book that does not say where it is';
ok !-e "$out/hw1-github", '... has no workflow, nor that of another time';
my $before = sums($out);
Chapter::save("$folder/wrong.conf", 'name = hw1', 'exercises = 2.9');
Chapter::save("$folder/file", 'x');
make_path("$folder/full/hw1-gradescope.zip/x");
for (["$folder/wrong.conf", $out, qr/wrong\.conf:2: exercise 2\.9 is not in chapter 2/],
     ['', $out, qr/an assignment and a folder are needed/],
     [$conf, "$folder/file", qr{\Q$folder\E/file}], [$conf, "$folder/full", qr{/full/hw1-gradescope\.zip: }],
     [$conf, $out, qr/REF is 'a b': the name of a tag/, 'a b'], [$conf, $out, qr/REF is '\$\{\{x\}\}'/, '${{x}}']) {
    my ($conf, $out, $message, $ref) = @$_;
    local $ENV{REF} = $ref // '';
    my ($status, $said) = packed($conf, $out);
    is $status, 2, 'refused with status 2';
    like $said, qr{^tools/teach/autograder: [^\n]*$message[^\n]*\n\z}, '... in one line';
}
is_deeply sums($out), $before, '... and all is as it was';
is join(' ', map { s{.*/}{}r } glob "$folder/full/*"), 'hw1-gradescope.zip', '... with nothing beside it';
is `$make -s autograder 2>&1` =~ s/\n.*//sr, 'tools/teach/autograder: an assignment and a folder are needed, as in: make autograder '
  . 'NAME=hw1, which reads hw1.conf', 'make autograder';

done_testing;
