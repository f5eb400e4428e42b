#!/usr/bin/env perl
# The pages for learners and teachers, in book.md, promise what there is: commands
# that make knows, formats and keys that tools have, and a course whose assignments
# are files as tools/teach/Assignment.pm reads them, with each exercise once, the points
# that it says, and mistakes that tests/learn/mistakes.tsv has.

use strict;
use warnings;
use utf8;
use File::Temp qw(tempdir);
use List::Util qw(sum0 uniq);
use Assignment;
use Chapter;
use Report;
use Test::More;
use Text;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $make = $ENV{MAKE} // 'make';
delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
my $folder = tempdir(CLEANUP => 1);

my $book = Text::of_file('book.md');
my %page;
for (qw(learn teach)) {
    ($page{$_}) = $book =~ /^(# [^\n]* \{#$_\}\n.*?)(?=^# [^\n]*\{#)/ms or die "book.md has no page #$_\n";
}

# What an assignment says, and its faults.
sub assignment {
    my ($text) = @_;
    my $path = "$folder/assignment.conf";
    Chapter::save($path, $text);
    my $loaded = eval { Assignment::load($path) };
    return ($loaded, $loaded ? '' : $@ =~ s/\n.*//sr);
}

# ---- The course, a section for each assignment.

my @chapters = map { Chapter->load($_) } sort glob 'chapters/*.c';
my %page_of = map { $_->{number} => $_->{name} =~ s/^\w+?_//r =~ tr/_/-/r } @chapters;
my %stars   = map { $_->{id} => scalar(() = $_->{about} =~ /★/g) } map { @{$_->{exercises}} } @chapters;
my %mistakes;
push @{$mistakes{"$_->[0] $_->[1]"}}, $_->[2]
  for map { [split /\t/] } grep {/\t/} split /\n/, Text::of_file('tests/learn/mistakes.tsv');

# What is wrong with a section that is to be the n-th.
sub faults {
    my ($n, $section) = @_;
    my ($title, $id, $prose, $conf) = $section =~ /^### (.*?) \{#([\w-]+)\}\n(.*?)^```\n(.*?)^```$/ms
      or return 'it has no heading, words and file';
    my ($assignment, @wrong) = assignment($conf);
    return @wrong if !$assignment;
    @wrong = ();
    push @wrong, "it is $id and $assignment->{name}, not teach-hw$n and hw$n"
      if "$id $assignment->{name}" ne "teach-hw$n hw$n";
    push @wrong, "its file says '$assignment->{title}'" if $assignment->{title} ne $title;
    my $points = sum0 map { $_->{points} } @{$assignment->{exercises}};
    # Half an hour for a chapter, and half an hour, one or two for one, two or three stars.
    my $hours = 0.5 * uniq map { $_->{chapter} } @{$assignment->{exercises}};
    $hours += (0, 0.5, 1, 2)[$stars{$_->{id}}] for @{$assignment->{exercises}};
    $hours = int $hours + 0.5;
    push @wrong, "it has $points points and takes $hours hours" if $conf !~ /^# $points points, $hours hours$/m;
    my (%of, %known);
    for my $exercise (@{$assignment->{exercises}}) {
        $of{$page_of{$exercise->{chapter}}} = 1;
        $known{ucfirst $_} = 1 for @{$mistakes{"$exercise->{chapter} $exercise->{function}"}};
    }
    my $linked = join ' ', sort $prose =~ /\[\]\(#([\w-]+)\)/g;
    push @wrong, "it links to $linked, and sets @{[sort keys %of]}" if $linked ne join ' ', sort keys %of;
    my @named = map { ucfirst tr/\n/ /r } $prose =~ /\*([^*]+)\*/g;
    push @wrong, 'it names no mistake' if !@named;
    push @wrong, map {"no mistake of its exercises is '$_'"} grep { !$known{$_} } @named;
    return @wrong;
}

my ($course) = $page{teach} =~ /^## [^\n]*\{#teach-course\}\n(.*?)(?=^## )/ms;
my @sections = split /^(?=### )/m, $course // '';
shift @sections;
is @sections, 11, 'eleven assignments';
is join("\n", faults($_, $sections[$_ - 1])), '', "assignment $_" for 1 .. @sections;

my @set = map { /^exercises = (.*)/m ? split ' ', $1 : () } @sections;
my %is_linked = map { $_ => 1 } $course =~ /\[\]\(#([\w-]+)\)/g;
my @due = map { $_->{id} } grep { $_->{function} && $_->{about} !~ /challenge/ }
  map { @{$_->{exercises}} } grep { $is_linked{$page_of{$_->{number}}} } @chapters;
is "@set", "@due", 'all exercises of their chapters that are no challenges, once, in their order';

my ($own) = Text::of_file('README.md') =~ /^((?:    [\w. ]+ = .*\n)+)/m;
is ((assignment($own =~ s/^ {4}//gmr))[1], '', 'the file in the README is one, too');

my @counts = sort { $a <=> $b } grep { $_ } map { scalar grep { $_->{function} } @{$_->{exercises}} } @chapters;
like $page{$_}, qr{two to four\s+functions}, "$_: how many functions a chapter asks for" for qw(learn teach);
is "@counts[0, -1]", '2 4', "... which is true";

# ---- Commands, and what they are told.

Chapter::save("$folder/hw1.conf", 'name = hw1', 'exercises = 1.1');
for my $name (sort keys %page) {
    my @commands = map { s/\\\n//gr =~ /^(?:docker .*?)?\K\s*make .*$/mg } $page{$name} =~ /^```\n(.*?)^```$/msg;
    push @commands, $page{$name} =~ /`(make [^`]+)`/g;
    cmp_ok scalar @commands, '>=', 5, "$name: commands are found";
    for my $command (map { s/^\s+//r } @commands) {
        my ($flags, @words) = $command =~ /^make (-s )?(.*)/ ? ($1, split ' ', $2) : die;
        # Without doing anything, and in a folder for what it would write.
        my $said = `$make -n @words CONF='$folder/hw1.conf' BUILD='$folder/build' 2>&1`;
        is $?, 0, "$name: $command" or diag $said;
    }
}
my $knows = join '', map { Text::of_file($_) } 'Makefile', glob('make/*.mk'), grep { -f && -T } glob 'tools/*/*';
for my $given (sort +uniq map { /\b([A-Z]+)=/g } $page{teach}, $page{learn}) {
    like $knows, qr/\$\($given\)|\$\{?$given\b|ENV\{$given\}/, "$given= is read";
}
my ($formats) = $page{teach} =~ /^The formats are (table,[a-z0-9,\s]+)\./m;
is join(' ', sort split /,\s+(?:which a person reads,\s+)?|\s+and\s+/, $formats // ''), join(' ', Report::formats()),
  'all formats are named';
# ---- The checks, tried.

my $good = $sections[0];
for (
    [qr/^it has 11 points and takes 5 hours$/, '# 11', '# 12'],
    [qr/^it has 11 points and takes 5 hours$/, ' 5 hours', ' 4 hours'],
    [qr/^it is teach-hw1 and hw2/, 'name = hw1', 'name = hw2'],
    [qr/^its file says 'Shares'/, 'title = .*', 'title = Shares'],
    [qr/assignment\.conf:4: exercise 1\.4 is done by hand/, '= 1\.1', '= 1.4'],
    [qr/^it links to dot-product qkv, and sets dot-product softmax$/, '#softmax', '#qkv'],
    [qr/^no mistake of its exercises is 'The largest is not subtracted'/, 'largest score is', 'largest is'],
    [qr/^it names no mistake$/, '\*', ''],
) {
    my ($message, $from, $to) = @$_;
    like join("\n", faults(1, $good =~ s/$from/$to/gr)), $message, "seen: $from as '$to'";
}

done_testing;
