#!/usr/bin/env perl
# The student edition: it builds without a warning, line numbers stay, its
# tests fail exactly for what is empty, and pass when it is filled in.
#
# An edition gets what has been built here, so that make there compiles what
# is emptied and nothing else. Chapters are tried side by side.

use strict;
use warnings;
use Cwd qw(getcwd);
use File::Temp qw(tempdir);
use Test2::IPC;
use lib 'tools';
use Chapter;
use Test::More;

my $build = $ENV{BUILD} // 'build';
my $jobs  = $ENV{JOBS} || 2;
delete @ENV{qw(BUILD MAKEFLAGS MAKELEVEL MFLAGS RUN_UNDER FIGURES)};
my $folder = tempdir(CLEANUP => 1);

sub command {
    my ($text) = @_;
    my $said = `$text 2>&1`;
    return ($? >> 8, $said);
}

sub save {
    my ($path, @lines) = @_;
    open my $file, '>:encoding(UTF-8)', $path or die "$path: $!\n";
    print $file map { "$_\n" } @lines;
    close $file or die "$path: $!\n";
}

# Builds a chapter's tests in a folder and runs them, from there. Returns
# make's status and words, and the tests.
sub run_tests {
    my ($work, $name) = @_;
    my ($status, $said) = command("make -C '$work' build/tests/$name");
    my $here = getcwd();
    chdir $work or die "$work: $!\n";
    my @tests = Chapter::run_tests("build/tests/$name");
    chdir $here or die "$here: $!\n";
    return ($status, $said, @tests);
}

sub check_tests {
    my ($what, $exercises, @tests) = @_;
    my %set = map { $_->{id} => 1 } @$exercises;
    my @odd = grep { $_->{ok} ? @{$_->{empty}} : !grep { $set{$_} } @{$_->{empty}} } @tests;
    is join(', ', map { $_->{name} } @odd), '', "$what: tests fail exactly for what is empty";
    my @other = grep { my $t = $_; !grep { $t->{name} =~ /^\Q$_->{function}\E\b/ } @$exercises }
      @tests;
    cmp_ok scalar(grep { $_->{ok} } @other), '>', 0, "$what: other tests pass" if @other;
    for my $exercise (@$exercises) {
        my @own = grep { $_->{name} =~ /^\Q$exercise->{function}\E\b/ } @tests;
        cmp_ok scalar @own, '>', 0, "$what: $exercise->{function} has tests of its own";
        is scalar(grep { $_->{ok} } @own), 0, "$what: all of them fail";
    }
}

sub check_chapter {
    my ($path) = @_;
    my $chapter = Chapter->load($path);
    my ($name, $number) = @$chapter{qw(name number)};
    my @exercises = grep { $_->{function} } @{$chapter->{exercises}};
    return if !@exercises;
    my $work = "$folder/$number";

    my ($status, $said) = command("make -s student CHAPTER=$number DIR='$work'");
    is $status, 0, "$name: the student edition is made" or diag $said;
    my $blank = Chapter->load("$work/$path");
    is scalar @{$blank->{lines}}, scalar @{$chapter->{lines}}, "$name: no line has moved";
    command("mkdir '$work/build' && cp -Rp '$build'/flags '$build'/libsupport.a "
        . "'$build'/obj '$build'/tests '$work/build'");
    my ($made, $words, @tests) = run_tests($work, $name);
    ($status, $said) = command("make -s -C '$work' test-$number");
    isnt $status, 0, "$name: make test-$number fails";
    is join(' ', $said =~ /^ +(\S+) +\w+ +empty/mg), join(' ', map { $_->{id} } @exercises),
      '... and lists what is empty' or diag $said;
    is $made, 0, "$name: it builds" or diag $words;
    is join(' ', sort $words =~ m{ -c (\S+)}g), $path, "$name: ... from this chapter alone";
    unlike $words, qr/warning/, "$name: without a warning";
    check_tests("$name, all empty", \@exercises, @tests);
    ($status, $said) = command("make -s -C '$work' run-$number");
    unlike $said, qr/warning/, "$name: so does its program";
    like $said, qr/^$name\.c: \w+: exercise \S+ is still empty/m,
      "$name: the program says where it stopped";

    for my $exercise (@exercises) {
        save("$work/$path", $chapter->emptied($exercise));
        (undef, undef, @tests) = run_tests($work, $name);
        check_tests("$name, $exercise->{id} empty", [$exercise], @tests);
    }
    save("$work/$path", @{$chapter->{lines}});
    ($status, $said) = command("make -s -C '$work' test-$number");
    is $status, 0, "$name: all tests pass when all is filled in" or diag $said;
}

my @chapters = sort glob 'chapters/*.c';
for my $job (0 .. $jobs - 1) {
    my $pid = fork // die "no process can be started: $!\n";
    next if $pid;
    check_chapter($chapters[$_]) for grep { $_ % $jobs == $job } 0 .. $#chapters;
    exit 0;
}
for (1 .. $jobs) {
    wait;
    is $?, 0, 'a process that tries chapters has come to its end';
}

# ---- With ids, only those exercises are empty.

my $chapter = Chapter->load($chapters[0]);
my @two = @{$chapter->{exercises}}[0, 1];
command("tools/student $chapter->{number} '$folder/two' $two[0]{id} $two[1]{id}");
is_deeply(Chapter->load("$folder/two/$chapters[0]")->{lines}, [$chapter->emptied(@two)],
    'exercises that are named are emptied, and no other');

# ---- Of tests that have no end, the first is shown and no other.

my $program = "$folder/program";
save($program, '#!/bin/sh', "cat <<'END'", 'TAP version 13',
    "not ok 1 - $two[0]{function}: one", '  ---', '  error: "no end in 10 s"', '  ...',
    "not ok 2 - $two[0]{function}: two", '  ---', '  error: "not run: a test before it has no end"', '  ...',
    "not ok 3 - $two[1]{function}: three", '  ---', '  got: 1', '  ...', '1..3', 'END', 'exit 1');
chmod 0755, $program;
my ($status, $said) = command("tools/progress '$chapters[0]' '$program'");
is join("\n", $said =~ /^FAILED  (.*)\n +(.*)/mg), join("\n", "$two[0]{function}: one",
    'error: "no end in 10 s"', "$two[1]{function}: three", 'got: 1'),
  'an endless loop is shown once' or diag $said;
like $said, qr/$two[0]{function} +wrong in 2 of 2 tests/, 'and its tests count as wrong';
isnt $status, 0, 'all in all, a failure';

# ---- What it refuses.

my @refusals = (
    ['', "'$folder/x'", qr/a chapter and a folder are needed/],
    ['02', '', qr/a chapter and a folder are needed/],
    ['99', "'$folder/x'", qr/there is no chapter '99'/],
    ['02', "'$folder'", qr/\Q$folder\E exists: a new folder is needed/],
    ['02', "'$folder/x' 1.1", qr/chapter 02 has no exercise 1\.1/],
);
for (@refusals) {
    my ($number, $rest, $message) = @$_;
    my ($status, $said) = command("tools/student '$number' " . ($rest || "''"));
    is $status, 2, 'refused with status 2';
    like $said, $message, '... with what would be right';
    ok !-e "$folder/x", '... and nothing is left behind';
}

done_testing;
