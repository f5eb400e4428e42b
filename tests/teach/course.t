#!/usr/bin/env perl
# The pages for learners and teachers, in book.md, promise what there is: commands
# that make knows, formats that tools have, and a course whose assignments
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
my %page = map { $_ => $book =~ /^(# [^\n]* \{#$_\}\n.*?)(?=^# [^\n]*\{#)/ms } qw(learn teach);

# ---- The course, a section for each assignment.

# Appendix B comes after the chapters that it builds on.
my @chapters = map { Chapter->load($_) } sort { ($a =~ s/B_/03_z/r) cmp ($b =~ s/B_/03_z/r) } glob 'chapters/*.c';
my %page_of = map { $_->{number} => $_->{name} =~ s/^\w+?_//r =~ tr/_/-/r } @chapters;
my %stars   = map { $_->{id} => scalar(() = $_->{about} =~ /★/g) } map { @{$_->{exercises}} } @chapters;
my %mistakes;
push @{$mistakes{"$_->[0] $_->[1]"}}, ucfirst $_->[2]
  for map { [split /\t/] } grep {/\t/} split /\n/, Text::of_file('tests/learn/mistakes.tsv');

my ($course) = $page{teach} =~ /^## [^\n]*\{#teach-course\}\n(.*?)(?=^## )/ms;
my (undef, @sections) = split /^(?=### )/m, $course;
is @sections, 13, 'thirteen assignments';
my ($n, @set) = (0);
for my $section (@sections) {
    $n++;
    my ($title, $id, $prose, $conf) = $section =~ /^### (.*?) \{#([\w-]+)\}\n(.*?)^```\n(.*?)^```$/ms;
    my $assignment = Assignment::load(Chapter::save("$folder/assignment.conf", $conf));
    my @exercises = @{$assignment->{exercises}};
    push @set, map { $_->{id} } @exercises;
    is "$id $assignment->{name} $assignment->{title}", "teach-hw$n hw$n $title", "assignment $n: its name";
    # Half an hour for a chapter, and half an hour, one or two for one, two or three stars.
    my $hours = 0.5 * uniq map { $_->{chapter} } @exercises;
    $hours += (0, 0.5, 1, 2)[$stars{$_->{id}}] for @exercises;
    my $says = '# ' . sum0(map { $_->{points} } @exercises) . ' points, ' . int($hours + 0.5) . ' hours';
    like $conf, qr/^$says$/m, '... its points and hours';
    is join(' ', sort $prose =~ /\[\]\(#([\w-]+)\)/g), join(' ', sort +uniq map { $page_of{$_->{chapter}} } @exercises), '... its chapters';
    my %known = map { $_ => 1 } map { @{$mistakes{"$_->{chapter} $_->{function}"}} } @exercises;
    my @named = map { ucfirst tr/\n/ /r } $prose =~ /\*([^*]+)\*/g;
    is join(', ', grep { !$known{$_} } @named), '', '... and the mistakes that it names are known';
    ok scalar @named, '... of which there are some';
}
my %is_linked = map { $_ => 1 } $course =~ /\[\]\(#([\w-]+)\)/g;
my @due = map { $_->{id} } grep { $_->{function} && $_->{about} !~ /challenge/ }
  map { @{$_->{exercises}} } grep { $is_linked{$page_of{$_->{number}}} } @chapters;
is "@set", "@due", 'all exercises of their chapters that are no challenges, once, in their order';
my ($own) = Text::of_file('README.md') =~ /^((?:    [\w. ]+ = .*\n)+)/m;
ok Assignment::load(Chapter::save("$folder/assignment.conf", $own =~ s/^ {4}//gmr)), 'the file in the README is one, too';
my @counts = sort { $a <=> $b } grep { $_ } map { scalar grep { $_->{function} } @{$_->{exercises}} } @chapters;
is "@counts[0, -1]" . ($page{teach} =~ /two to six\s+functions/), '2 61', 'how many functions a chapter asks for';

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
my ($formats) = $page{teach} =~ /^The formats are (table,.*?)\.$/ms;
like $formats // '', qr/\b$_\b/, "the format $_ is named" for Report::formats();

done_testing;
