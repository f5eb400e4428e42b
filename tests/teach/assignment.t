#!/usr/bin/env perl
# What a teacher sets: chosen exercises, their points, and what is refused, each
# with its line and with what would be right.

use strict;
use warnings;
use utf8;
use File::Temp qw(tempdir);
use Assignment;
use Chapter;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $folder = tempdir(CLEANUP => 1);
my $path   = "$folder/assignment.conf";

sub set {
    my ($text) = @_;
    open my $file, '>:raw', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    return Assignment::load($path);
}

sub ids { return join ' ', map { $_->{id} } @{$_[0]{exercises}} }

# ---- What is right.

my $set = set(<<'END');
# The first sheet.
name = hw1
title = Scores and shares in C#   # in two chapters

exercises = 2.1 1.1, 1.2
  points   2.1=5
seconds = 90
END
is_deeply [@$set{qw(name title seconds)}], ['hw1', 'Scores and shares in C#', 90], 'what the lines say';
is_deeply $set->{exercises}, [
    {id => '1.1', chapter => '01', function => 'dot', points => 2},
    {id => '1.2', chapter => '01', function => 'dot_scores', points => 3},
    {id => '2.1', chapter => '02', function => 'softmax', points => 5}],
  'the exercises, in the order of the book, with the book\'s points or other ones';
$set = set("\xef\xbb\xbfname = U-1_b\r\nchapters = 2 03\r\nexercises = 1.3\r\npoints 3.1 = 1000");
is ids($set), '1.3 2.1 2.2 2.3 3.1 3.2 3.4', 'all of some chapters, and one; lines with CR, and the mark of UTF-8';
is_deeply [@$set{qw(title seconds)}, $set->{exercises}[4]{points}], ['U-1_b', 180, 1000], 'what need not be said';
is set("name = a\ntitle = \xc3\x9cbung\nexercises = 1.1\n")->{title}, 'Übung', 'UTF-8';

my @book = map { my $of = $_; map { [$of->{number}, @$_{qw(id function points)}] } grep { $_->{function} } @{$of->{exercises}} }
  map { Chapter->load($_) } sort glob 'chapters/*.c';
my $all = Assignment::load();
is_deeply [map { [@$_{qw(chapter id function points)}] } @{$all->{exercises}}], \@book, 'without a file, all of the book';
is_deeply [@$all{qw(name seconds)}], ['all', 360], '... and a name, and no more time than there is elsewhere';

# ---- What is refused.

my $good = "name = hw1\nexercises = 1.1 2.1\n";
my $either = '2.1, 2.2 or 2.3 is needed';
for (["name = hw1\ntitle = x\nexercises = 1.1 2.9\n", "3: exercise 2.9 is not in chapter 2: $either"],
     ["name = hw1\nexercises = 2.4\n", "2: exercise 2.4 is done by hand, which no program can grade: $either"],
     ["name = hw1\nexercises = 97.1\n", "2: there is no chapter 97 with exercises, as '97.1' would have it: one of 1 to 25 or B is needed"],
     ["name = hw1\nchapters = A\n", '2: there is no chapter A with exercises: one of 1 to 25 or B is needed'],
     ["name = hw1\nchapters = 2 02\n", '2: exercise 2.1 is chosen twice'],
     ["name = hw1\nexercises = 2.1 2.1\n", '2: exercise 2.1 is chosen twice'],
     ["name = hw1\n", " no exercises are chosen: a line such as 'exercises = 1.1 2.1' is needed"],
     ["name = hw1\nexercises = # 1.1\n", "2: nothing follows 'exercises ='"],
     ["name = hw1\nexercises = ,\n", '2: no exercise is chosen'], ["exercises = 1.1\n", ' there is no name: a line such as'],
     (map { ["exercises = 1.1\nname = $_\n", "2: the name is '$_': at most 40 letters"] } '../x', '-x', 'a b', 'a.b', 'x' x 41),
     ["name = \xc3\xbc\nexercises = 1.1\n", '1: the name is'],
     ["name = \xff\n", '1: this is not UTF-8'], ["name = hw1\ntitle = a\x1bb\n", "2: 'title' holds a control character"],
     ["name = hw1\n\nExercises = 1.1\n", "3: 'Exercises' is not known: name, title, exercises, chapters, points 2.1, due or seconds is needed"],
     ["${good}name = hw2\n", "3: 'name' is set in line 1 already"],
     ["${good}hello\n", "3: 'hello' says nothing: a line such as 'name = hw1' is needed"],
     ["${good}points 2.2 = 3\n", '3: exercise 2.2 gets points, but is not chosen: 1.1 2.1 are'],
     (map { ["${good}points 2.1 = $_\n", "3: exercise 2.1 is worth '$_' points: a number from 1 to 1000 is needed"] } 0, -1, 1.5, 1001, '1e2'),
     (map { ["${good}seconds = $_\n", "3: grading takes '$_' seconds: a number from 1 to 360 is needed"] } 0, 361, '1m')) {
    my ($text, $message) = @$_;
    eval { set($text) };
    like $@, qr/^\Q$path:$message\E[^\n]*\n\z/, "refused in one line: $message";
}
for (["$folder/none.conf", 'cannot be read: No such'], [$folder, 'is no file: one with']) {
    eval { Assignment::load($_->[0]) };
    like $@, qr/^\Q$_->[0] $_->[1]\E[^\n]*\n\z/, "refused in one line: $_->[1]";
}

done_testing;
