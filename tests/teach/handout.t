#!/usr/bin/env perl
# What students get of an assignment: a copy in which its exercises alone are empty,
# and their solutions nowhere; and what is asked, as a browser shows it.

use strict;
use warnings;
use utf8;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use List::Util qw(uniq);
use Chapter;
use Test::More;
use Text;
use Unpack qw(unpacked);

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CHAPTER NAME CONF WORK)};
$ENV{SOURCE_DATE_EPOCH} = 1_000_000_000;
my $make = $ENV{MAKE} // 'make';
my $folder = tempdir(CLEANUP => 1);

sub handout {
    my ($conf, $out) = @_;
    open my $from, '-|:encoding(UTF-8)', 'sh', '-c', 'exec "$@" 2>&1', 'sh', 'tools/teach/handout', $conf, $out or die "sh: $!\n";
    my $said = join '', <$from>;
    close $from;
    return ($? >> 8, $said);
}
sub in_folder { opendir my $dir, $_[0] or return; return join ' ', sort grep { !/^\./ } readdir $dir }
sub squeezed { return join('', @_) =~ s/\s+//gr }

# The names hold what a shell would take for its own.
my ($conf, $out) = ("$folder/it's \"1\".conf", "$folder/o'ut \"[1]");
my @ids = qw(1.1 2.1 2.3);
Chapter::save($conf, 'name = hw1', q{title = Scores & *shares*, "it's" <é> $x$ @me}, "exercises = @ids", 'points 2.1 = 5', 'due = 1 *December*');
my ($status, $said) = handout($conf, $out);
is $status, 0, 'an assignment is packed' or diag $said;
is $said, "$out/hw1.zip: 3 exercises, 11 points; begin with hw1/ASSIGNMENT.html in it\n", '... which says what it is';
is in_folder($out), 'hw1.zip', '... and nothing else is left';
my $mode = unpacked("$out/hw1.zip", $folder);
is join(' ', grep { !m{^hw1/} || m{/\.\.?/} } keys %$mode), '', 'all is in one folder';
is_deeply [@$mode{qw(hw1/Makefile hw1/tools/learn/progress hw1/tests/tap.h)}], [100644, 100755, 100644], 'tools can be run';
rename "$out/hw1.zip", "$folder/first.zip";
handout($conf, $out);
is system('cmp', "$out/hw1.zip", "$folder/first.zip"), 0, 'packed again, it has the same bytes';

# ---- The copy.

my %asked = map { $_ => 1 } @ids;
for my $chapter (map { Chapter->load($_) } 'chapters/01_dot_product.c', 'chapters/02_softmax.c') {
    # A challenge beside it, such as softmax_online, would solve softmax in one line.
    my @empty = grep { $asked{$_->{id}} || $_->{function} && $_->{about} =~ /challenge/ } @{$chapter->{exercises}};
    my $points = sub { join '', map { s/^(\*\*Exercise 2\.1\*\* \(★★, )3 points/${1}5 points/r . "\n" } @_ };
    is Text::of_file("$folder/hw1/$chapter->{path}"), $points->($chapter->emptied(@empty)), "$chapter->{name}: " . @empty . ' exercises are empty';
    is Text::of_file("$folder/hw1/.book/$chapter->{name}.c"), $points->($chapter->unsolved(@empty)), '... and in what is kept of the book';
}
is in_folder("$folder/hw1/chapters"), '01_dot_product.c 02_softmax.c B_random.c', 'no later chapter is there';
is in_folder("$folder/hw1/.book"), '01_dot_product.c 02_softmax.c exercises mistakes', '... of which no other chapter is kept';
is Text::of_file("$folder/hw1/.book/exercises"), "1.1\n1.3 beside\n2.1\n2.3\n", '... which says what is asked for, and what stands beside';
system("chmod -R u+w '$folder/hw1' && cp chapters/01_dot_product.c '$folder/hw1/chapters'");
like `$make -s -C '$folder/hw1' test-01 2>&1`, qr/^ +1\.1 .*done$/m, 'it has what it takes to test';

# ---- What is asked.

my $html = Text::of_file("$folder/hw1/ASSIGNMENT.html");
my %sign = (lt => '<', gt => '>', amp => '&', quot => '"');
my $simple = sub { squeezed($_[0]) =~ tr/`*\x{2019}“”/'\/'""/r =~ tr{'/}{}dr };
my $says = $simple->($html =~ s{<style>.*?</style>|<title>.*?</title>|<[^>]*>}{ }gsr =~ s/&(\w+);/$sign{$1}/gr);
my $told = sub { my $due = $simple->($_[0]); like $says, qr/\Q$due/, "what is asked: $_[0]" };
$told->(q{Scores & *shares*, "it's" <é> $x$ @me});
$told->('Assignment hw1, due 1 *December*: 3 functions to write, 11 points in all.');
for (['1.1', 'dot', '★, 2 points'], ['2.1', 'softmax', '★★, 5 points'], ['2.3', 'softmax_online', '★★★, challenge, 4 points']) {
    my ($id, $function, $about) = @$_;
    $told->("Exercise $id: $function ($about)");
    my ($chapter) = map { Chapter->load($_) } glob sprintf "$folder/hw1/.book/%02d_*.c", $id;
    my ($asks) = join("\n", @{$chapter->{lines}}) =~ /^\*\*Exercise \Q$id\E\*\*.*?\n(.*?)\n\n/ms;
    $told->($_) for grep { !/@/ } split /\n/, $asks;
    my ($line) = grep { $chapter->{lines}[$_ - 1] =~ /TODO\("\Q$id\E"\)/ } 1 .. @{$chapter->{lines}};
    $told->("chapters/$chapter->{name}.c, line $line: " . ($function eq 'dot' ? 'float dot(int n, const' : "void $function(int n,"));
}
$told->($_) for 'A function refuses by REFUSE, which', 'make watch', 'TODO("1.1");', 'make -s test-01 make -s test-02', 'Submit these files';
unlike $says, qr/\[\]|\[@|variabletogrow|Threepasses/, '... without references that lead nowhere, and without hints';
like $html, qr{<title>Scores &amp; \*shares\*, "it's" &lt;é&gt; \$x\$ \@me</title>}, 'the title, in plain';
unlike $html, qr/<(?:link|script|img)\b|https?:(?!\/\/www\.w3\.org)/, '... and nothing from elsewhere';

# ---- No solution of any exercise, in any file.

my @bodies = map {
    my $chapter = $_;
    map {
        my ($open, $close) = $chapter->body($_->{function});
        ["$chapter->{path}: $_->{id}", squeezed(@{$chapter->{lines}}[$open + 1 .. $close - 1])];
    } grep { $_->{function} } @{$chapter->{exercises}};
} map { Chapter->load($_) } glob 'chapters/*.c';
sub solutions { my $text = squeezed(Text::of_file($_[0])); return map { $_->[0] } grep { index($text, $_->[1]) >= 0 } @bodies }

Chapter::save($conf, 'name = all', 'chapters = ' . join ' ', map { /(\d\d|B)_/ } glob 'chapters/*_*.c');
($status, $said) = handout($conf, $out);
is $said, "$out/all.zip: 90 exercises, 256 points; begin with all/ASSIGNMENT.html in it\n", 'all exercises are packed';
my @files = sort keys %{unpacked("$out/all.zip", $folder)};
is join(' ', map { my $file = $_; map {"$file: $_"} solutions("$folder/$file") } grep { -T "$folder/$_" } @files), '', '... and no file has a solution';
is_deeply [uniq sort map { solutions($_) } glob 'chapters/*.c'], [sort map { $_->[0] } @bodies], '... which are found where they are';
like Text::of_file("$folder/all/ASSIGNMENT.html"), qr/Exercise\s+16\.3/, '... and all can be read';
unlink "$out/all.zip";

# ---- What it refuses leaves what is there.

make_path("$folder/full/hw1.zip/x");
Chapter::save($conf, 'name = hw1', 'exercises = 2.9');
Chapter::save("$folder/right.conf", 'name = hw1', 'exercises = 1.1');
for ([[$conf, $out], qr{\Q$conf\E:2: exercise 2\.9 is not in chapter 2}],
     [['', $out], qr{an assignment and a folder are needed, as in: make handout NAME=hw1}],
     [["$folder/right.conf", "$folder/full"], qr{\Q$folder\E/full/hw1\.zip: }],
     [["$folder/right.conf", $out], qr{/none cannot be run: make build/pandoc\.found sets up}, PANDOC => '/none']) {
    my ($given, $message, %environment) = @$_;
    local @ENV{keys %environment} = values %environment;
    my ($status, $said) = handout(@$given);
    is $status, 2, 'refused with status 2';
    like $said, qr/\Atools\/teach\/handout: $message[^\n]*\n\z/, '... in one line';
    is in_folder($out), 'hw1.zip', '... with nothing left behind';
}
is system('cmp', "$out/hw1.zip", "$folder/first.zip"), 0, 'what was there is there';

done_testing;
