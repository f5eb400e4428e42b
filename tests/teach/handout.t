#!/usr/bin/env perl
# What students get of an assignment: a copy in which its exercises alone are empty,
# and their solutions nowhere; and what is asked, thrice, as a browser, paper and an
# editor show it.

use strict;
use warnings;
use utf8;
use Digest::SHA;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use FindBin qw($Bin);
use Chapter;
use Formats qw(unpacked);
use List::Util qw(uniq);
use Test::More;
use Text;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
delete @ENV{qw(BUILD MAKEFLAGS MAKELEVEL MFLAGS)};
$ENV{SOURCE_DATE_EPOCH} = 1_000_000_000;
my $folder = tempdir(CLEANUP => 1);

sub squeezed { return join('', @_) =~ s/[\s\x{200b}\x{ad}]+//gr }
sub handout {
    my (@given) = @_;
    open my $from, '-|:encoding(UTF-8)', 'sh', '-c', 'exec "$@" 2>&1', 'sh', 'tools/teach/handout', @given or die "sh: $!\n";
    my $said = join '', <$from>;
    close $from;
    return ($? >> 8, $said);
}

sub in_folder { opendir my $dir, $_[0] or return; return join ' ', sort grep { !/^\./ } readdir $dir }

# What is read on a page of HTML, and on paper if it can be read there.
sub of_html {
    my ($text) = @_;
    my %sign = (lt => '<', gt => '>', amp => '&', quot => '"');
    return $text =~ s{<style>.*?</style>|<title>.*?</title>|<[^>]*>}{ }gsr =~ s/&(\w+);/$sign{$1}/gr;
}
if (!-x '.venv/bin/python' || system('.venv/bin/python -c "import typst" 2>/dev/null')) {
    my $why = 'typst is not there: make sets it up';
    die "$why\n" if $ENV{CI};
    plan skip_all => $why;
}
my $reads_pdf = system('pdftotext -v 2>/dev/null') == 0;
die "pdftotext is not there: install poppler-utils\n" if !$reads_pdf && $ENV{CI};
diag 'pdftotext is not there: what is on paper is not looked at' if !$reads_pdf;
sub of_pdf { my $text = $reads_pdf ? `pdftotext '$_[0]' - 2>/dev/null` : ''; utf8::decode($text); return $text }

sub read_in {
    my ($path) = @_;
    return $path =~ /\.pdf$/ ? of_pdf($path) : $path =~ /\.html$/ ? of_html(Text::of_file($path)) : Text::of_file($path);
}

# The names hold what a shell would take for its own.
my ($conf, $out) = ("$folder/it's \"1\".conf", "$folder/o'ut \"[1]");
my @ids = qw(1.1 2.1 2.3);
Chapter::save($conf, 'name = hw1', q{title = Scores & *shares*, "it's" <é> $x$ @me}, "exercises = @ids", 'points 2.1 = 5',
    'due = 2026-12-01');
my ($status, $said) = handout($conf, $out);
is $status, 0, 'an assignment is packed' or diag $said;
is $said, "$out/hw1.zip: 3 exercises, 11 points; begin with hw1/ASSIGNMENT.html in it\n", '... which says what it is';
is in_folder($out), 'hw1.zip', '... and nothing else is left';

my $mode = unpacked("$out/hw1.zip", $folder);
is join(' ', uniq map { (stat "$folder/$_")[9] } keys %$mode), $ENV{SOURCE_DATE_EPOCH}, 'all files have one time';
is join(' ', grep { !m{^hw1/} || m{/\.\.?/} } keys %$mode), '', 'all is in one folder';
is_deeply [@$mode{qw(hw1/Makefile hw1/tools/learn/progress hw1/tests/tap.h)}], [100644, 100755, 100644], 'tools can be run';
my $sum = sub { Digest::SHA->new(256)->addfile("$out/hw1.zip")->hexdigest };
my $once = $sum->();
handout($conf, $out);
is $sum->(), $once, 'packed again, it has the same bytes';

# ---- The copy.

my %asked = map { $_ => 1 } @ids;
for my $chapter (map { Chapter->load($_) } 'chapters/01_dot_product.c', 'chapters/02_softmax.c') {
    # A challenge beside it, such as softmax_online, would solve softmax in one line.
    my @empty = grep { $asked{$_->{id}} } @{$chapter->{exercises}};
    @empty = grep { $asked{$_->{id}} || $_->{function} && $_->{about} =~ /challenge/ } @{$chapter->{exercises}} if @empty;
    my $points = sub { join '', map { s/^(\*\*Exercise 2\.1\*\* \(★★, )3 points/${1}5 points/r . "\n" } @_ };
    is Text::of_file("$folder/hw1/$chapter->{path}"), $points->($chapter->emptied(@empty)),
      "$chapter->{name}: " . (@empty ? @empty . ' exercises are empty' : 'as it is');
    is Text::of_file("$folder/hw1/.book/$chapter->{name}.c"), $points->($chapter->unsolved(@empty)), '... and in what is kept of the book'
      if @empty;
}
is in_folder("$folder/hw1/chapters"), '01_dot_product.c 02_softmax.c B_normals.c', 'no later chapter is there';
is in_folder("$folder/hw1/.book"), '01_dot_product.c 02_softmax.c exercises mistakes', '... of which no other chapter is kept';
is Text::of_file("$folder/hw1/.book/exercises"), "1.1\n1.3 beside\n2.1\n2.3\n", '... which says what is asked for, and what stands beside';

# ---- What is asked.

my ($html, $markdown) = map { Text::of_file("$folder/hw1/ASSIGNMENT.$_") } qw(html md);
my %says = map { $_ => read_in("$folder/hw1/ASSIGNMENT.$_") } qw(html md), $reads_pdf ? 'pdf' : ();
$says{$_} =~ s/\\(?=[^\w\s])//g for 'md';
for my $name (sort keys %says) {
    my $said = squeezed($says{$name}) =~ tr/`*\x{2019}“”/'\/'""/r =~ tr{'/}{}dr;
    my $told = sub { like $said, qr/\Q@{[squeezed($_[0]) =~ tr{'\/*`}{}dr]}/, "$name: $_[0]" };
    $told->(q{Scores & *shares*, "it's" <é> $x$ @me});
    $told->('Assignment hw1, due on 2026-12-01: 3 functions to write, 11 points in all.');
    for (['1.1', 'dot', '★, 2 points'], ['2.1', 'softmax', '★★, 5 points'], ['2.3', 'softmax_online', '★★★, challenge, 4 points']) {
        my ($id, $function, $about) = @$_;
        $told->("Exercise $id: $function ($about)");
        my ($chapter) = map { Chapter->load($_) } glob sprintf "$folder/hw1/chapters/%02d_*.c", $id;
        my ($asks) = join("\n", @{$chapter->{lines}}) =~ /^\*\*Exercise \Q$id\E\*\*.*?\n(.*?)\n\n/ms;
        $told->($_) for grep { !/@/ } split /\n/, $asks;
        my ($line) = grep { $chapter->{lines}[$_ - 1] =~ /TODO\("\Q$id\E"\)/ } 1 .. @{$chapter->{lines}};
        $told->("chapters/$chapter->{name}.c, line $line: " . ($function eq 'dot' ? 'float dot(int n, const' : "void $function(int n,"));
    }
    $told->($_) for 'A function refuses by REFUSE, which', 'sudo apt-get install build-essential perl', 'make watch', 'TODO("1.1");', 'make hint-1.1',
      'make -s test-01 make -s test-02', 'Of a file that does not compile nothing can be tested', 'Only these files,';
    unlike $said, qr/\[\]|\[@|variabletogrow|Threepasses/, '... without references that lead nowhere, and without hints';
}
my %lists = (HTML => '<li><code>chapters/02_softmax.c</code></li>', Markdown => "\n- `chapters/01_dot_product.c`\n- `chapters/02_softmax.c`\n");
like $_->[1], qr/\Q$lists{$_->[0]}/, "$_->[0]: what is submitted is a list" for ['HTML', $html], ['Markdown', $markdown];
like $html, qr{<title>Scores &amp; \*shares\*, "it's" &lt;é&gt; \$x\$ \@me</title>}, 'HTML: the title, in plain';
like $html, qr/color-scheme: light dark/, '... light and dark';
unlike $html, qr/<(?:link|script|img)\b|https?:(?!\/\/www\.w3\.org)/, '... and nothing from elsewhere';
is((grep { length > 100 } split /\n/, $markdown)[0], undef, 'Markdown: no line is long');

# ---- No solution of any exercise, in any file.

sub bodies {
    my @bodies;
    for my $chapter (map { Chapter->load($_) } glob 'chapters/*.c') {
        for my $exercise (grep { $_->{function} } @{$chapter->{exercises}}) {
            my ($open, $close) = $chapter->body($exercise->{function});
            push @bodies, {id => $exercise->{id}, path => $chapter->{path},
                text => squeezed(@{$chapter->{lines}}[$open + 1 .. $close - 1])};
        }
    }
    return @bodies;
}

sub solutions {
    my ($path, $text) = @_;
    $text = squeezed($text);
    return map {"$path: $_->{id}"} grep { index($text, $_->{text}) >= 0 } bodies();
}

{
    my @all = bodies();
    no warnings 'redefine';
    local *bodies = sub { @all };
    Chapter::save($conf, 'name = all', 'chapters = ' . join ' ', map { /(\d\d)_/ } glob 'chapters/[0-9]*.c');
    ($status, $said) = handout($conf, $out);
    is $said, "$out/all.zip: 74 exercises, 210 points; begin with all/ASSIGNMENT.html in it\n", 'all exercises are packed';
    my @files = sort keys %{unpacked("$out/all.zip", $folder)};
    is join(' ', map { solutions($_, read_in("$folder/$_")) } grep { /\.pdf$/ || -T "$folder/$_" } @files),
      '', '... and no file has a solution';
    is_deeply [grep { my $one = $_; !grep { $_ eq "$one->{path}: $one->{id}" } solutions($one->{path}, read_in($one->{path})) } @all],
      [], '... which are found where they are';
    is join(' ', grep { read_in("$folder/all/ASSIGNMENT.$_") =~ /Exercise\s+16\.3/ } qw(html md pdf)),
      join(' ', 'html', 'md', $reads_pdf ? 'pdf' : ()), '... and all can be read';
    unlink "$out/all.zip";
}

# ---- One file, and no day.

Chapter::save($conf, 'name = hw1', 'exercises = 2.1', 'points 2.1 = 1');
is((handout($conf, $out, 'us-letter'))[0], 0, 'another of this name takes its place');
unpacked("$out/hw1.zip", "$folder/second");
like Text::of_file("$folder/second/hw1/ASSIGNMENT.md"),
  qr/^# hw1\n\nAssignment `hw1`: 1 function to write, 1 point in all\.\n.*\(★★, 1 point\).*This says.*Only this file, /s,
  '... with one file, open for ever';
like `pdfinfo '$folder/second/hw1/ASSIGNMENT.pdf' 2>/dev/null`, qr/^Page size: +612 x 792/m, '... on letter' if $reads_pdf;

# ---- What it refuses leaves what is there.

my $before = $sum->();
make_path("$folder/full/hw1.zip/x", "$folder/bin");
Chapter::save($conf, 'name = hw1', 'exercises = 2.9');
Chapter::save("$folder/file", 'x');
Chapter::save("$folder/right.conf", 'name = hw1', 'exercises = 1.1');
Chapter::save("$folder/party.conf", 'name = hw1', 'title = 🎉', 'exercises = 1.1'); # paper has no such sign
chmod 0755, Chapter::save("$folder/bin/python3", '#!/bin/sh', 'echo no typst; exit 1');
my $path = $ENV{PATH};
for ([[$conf, $out], qr{\Q$conf\E:2: exercise 2\.9 is not in chapter 2}],
     [["$folder/none.conf", $out], qr{\Q$folder\E/none\.conf cannot be read}],
     [['', $out], qr{an assignment and a folder are needed, as in: make handout NAME=hw1}],
     [["$folder/right.conf", "$folder/full"], qr{\Q$folder\E/full/hw1\.zip: }],
     [["$folder/right.conf", "$folder/file"], qr{.*\Q$folder\E/file}],
     [["$folder/right.conf", $out, 'a9'], qr{PAPER is 'a9': a4 or us-letter is needed}],
     [["$folder/right.conf", $out], qr{/none cannot be run: make build/pandoc\.found sets up}, PANDOC => '/none'],
     [["$folder/party.conf", $out], qr{ASSIGNMENT\.pdf: PDF\S+ error: the text \S+🎉}],
     [["$folder/right.conf", $out], qr{ASSIGNMENT\.pdf: no typst$}, PATH => "$folder/bin:$path"]) {
    my ($given, $message, %environment) = @$_;
    local @ENV{keys %environment} = values %environment;
    my ($status, $said) = handout(@$given);
    is $status, 2, 'refused with status 2';
    like $said, qr/\Atools\/teach\/handout: $message[^\n]*\n\z/, '... in one line';
    is in_folder($out), 'hw1.zip', '... with nothing left behind';
}
is $sum->(), $before, 'what was there is there';
is in_folder("$folder/full"), 'hw1.zip', '... nor is anything beside a folder of that name';

done_testing;
