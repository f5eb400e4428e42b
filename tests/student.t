#!/usr/bin/env perl
# The student edition: it builds without a warning, line numbers stay, its
# tests fail exactly for what is empty, and pass when it is filled in.

use strict;
use warnings;
use Cwd qw(getcwd);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use lib 'tools';
use Chapter;
use Test::More;

delete @ENV{qw(BUILD MAKEFLAGS MAKELEVEL MFLAGS RUN_UNDER FIGURES)};
my $folder = tempdir(CLEANUP => 1);

sub command {
    my ($text) = @_;
    my $said = `$text 2>&1`;
    return ($? >> 8, $said);
}

# Builds a chapter's tests in a folder and runs them, from there. Returns
# make's status and words, and the tests.
sub run_tests {
    my ($work, $name) = @_;
    my ($status, $said) = command("make -C '$work' build/tests/$name build/chapters/$name");
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

for my $path (sort glob 'chapters/*.c') {
    my $chapter = Chapter->load($path);
    my ($name, $number) = @$chapter{qw(name number)};
    my @exercises = grep { $_->{function} } @{$chapter->{exercises}};
    next if !@exercises;
    my $work = "$folder/$number";

    my ($status, $said) = command("make -s student CHAPTER=$number DIR='$work'");
    is $status, 0, "$name: the student edition is made" or diag $said;
    my $blank = Chapter->load("$work/$path");
    is scalar @{$blank->{lines}}, scalar @{$chapter->{lines}}, "$name: no line has moved";
    my ($made, $words, @tests) = run_tests($work, $name);
    ($status, $said) = command("make -s -C '$work' test-$number");
    isnt $status, 0, "$name: make test-$number fails";
    is join(' ', $said =~ /^ +(\S+) +\w+ +empty/mg), join(' ', map { $_->{id} } @exercises),
      '... and lists what is empty' or diag $said;
    is $made, 0, "$name: it builds" or diag $words;
    unlike $words, qr/warning/, "$name: without a warning";
    check_tests("$name, all empty", \@exercises, @tests);
    ($status, $said) = command("make -s -C '$work' run-$number");
    like $said, qr/^chapters\/$name\.c:\d+: exercise \S+ is still empty/m,
      "$name: the program says where it stopped";

    for my $exercise (@exercises) {
        my $one = "$folder/$exercise->{id}";
        command("tools/student $number '$one' $exercise->{id}");
        copy("$one/$path", "$work/$path") or die "$one/$path: $!\n";
        (undef, undef, @tests) = run_tests($work, $name);
        check_tests("$name, $exercise->{id} empty", [$exercise], @tests);
    }
    copy($path, "$work/$path") or die "$work/$path: $!\n";
    ($status, $said) = command("make -s -C '$work' test-$number");
    is $status, 0, "$name: all tests pass when all is filled in" or diag $said;
}

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
