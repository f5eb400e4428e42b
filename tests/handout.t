#!/usr/bin/env perl
# What students get of an assignment: a copy in which its exercises alone are empty,
# and the same page twice, as a browser and as an editor shows it.

use strict;
use warnings;
use utf8;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use lib qw(tools tests);
use Chapter;
use Formats qw(unpacked);
use List::Util qw(uniq);
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $make = $ENV{MAKE} // 'make';
delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
$ENV{SOURCE_DATE_EPOCH} = 1_000_000_000;
my $folder = tempdir(CLEANUP => 1);

sub handout {
    my ($conf, $out) = @_;
    my $said = `tools/handout '$conf' '$out' 2>&1`;
    return ($? >> 8, $said);
}

sub text_of {
    my ($path) = @_;
    open my $file, '<:encoding(UTF-8)', $path or return "$path: $!";
    local $/;
    return scalar <$file>;
}

my $conf = "$folder/hw 1.conf";
Chapter::save($conf, 'name = hw1', 'title = Scores & *shares* <é>', 'exercises = 1.1 2.1 2.3', 'points 2.1 = 5',
    'due = 2026-12-01');
my ($status, $said) = handout($conf, "$folder/out");
is $status, 0, 'an assignment is packed' or diag $said;
like $said, qr{^\Q$folder\E/out/hw1\.zip: 3 exercises, 11 points; begin with hw1/ASSIGNMENT\.html in it\n\z}, '... which says what it is';
is join(' ', glob "'$folder/out/'*"), "$folder/out/hw1.zip", '... and nothing else is left';

my $mode = unpacked("$folder/out/hw1.zip", $folder);
is join(' ', uniq map { (stat "$folder/$_")[9] } keys %$mode), $ENV{SOURCE_DATE_EPOCH}, 'all files have one time';
is join(' ', grep { !m{^hw1/} || m{/\.\.?/} } keys %$mode), '', 'all is in one folder';
is_deeply [@$mode{qw(hw1/Makefile hw1/tools/progress hw1/tests/tap.h)}], [100644, 100755, 100644], 'tools can be run';
for my $chapter (map { Chapter->load($_) } sort glob 'chapters/*.c') {
    my %asked = map { $_ => 1 } qw(1.1 2.1 2.3);
    my @empty = grep { $asked{$_->{id}} } @{$chapter->{exercises}};
    is text_of("$folder/hw1/$chapter->{path}"), join('', map { "$_\n" } $chapter->emptied(@empty)),
      "$chapter->{name}: " . (@empty ? @empty . ' exercises are empty' : 'as it is');
}

# ---- The page.

my ($html, $markdown) = map { text_of("$folder/hw1/ASSIGNMENT.$_") } qw(html md);
my $line = Chapter->load('chapters/02_softmax.c')->{exercises}[2]{line} + 1;
for (['HTML', $html, '<h1>Scores &amp; *shares* &lt;é&gt;</h1>', '<code>hw1</code>, due on 2026-12-01, 11 points',
      "<tr><td>2.3</td><td><code>softmax_online</code></td><td>4</td><td><code>chapters/02_softmax.c</code>, line $line</td>",
      "<pre>make -s test-01\nmake -s test-02</pre>", '<li><code>chapters/01_dot_product.c</code></li>'],
     ['Markdown', $markdown, "# Scores \\& \\*shares\\* \\<é\\>\n", '`hw1`, due on 2026-12-01, 11 points',
      "| 2.3 | `softmax_online` | 4 | `chapters/02_softmax.c`, line $line |", "\n\n    make -s test-01\n    make -s test-02\n",
      "\n- `chapters/01_dot_product.c`\n- `chapters/02_softmax.c`\n"]) {
    my ($name, $text, @parts) = @$_;
    like $text, qr/\Q$_\E/, "$name: $_" =~ s/\n/ /gr for @parts;
}
my @open;
for my $tag ($html =~ m{<(/?\w+)}g) {
    push @open, $tag if $tag !~ m{^/|^meta$};
    is pop @open, $1, "$tag closes what is open" if $tag =~ m{^/(.*)};
}
is "@open", '', 'HTML: all is closed';
my @words = map { lc s{<style>.*?</style>|<title>.*?</title>|<[^>]*>}{ }gsr =~ s/&(lt|gt|amp);/{lt => '<', gt => '>', amp => '&'}->{$1}/ger } $html;
is join(' ', $words[0] =~ /\w+/g), join(' ', lc($markdown) =~ /\w+/g), 'both say the same';

# ---- One file, and no day.

Chapter::save($conf, 'name = hw1', 'exercises = 2.1');
is((handout($conf, "$folder/out"))[0], 0, 'another of this name takes its place');
unpacked("$folder/out/hw1.zip", "$folder/second");
like text_of("$folder/second/hw1/ASSIGNMENT.md"), qr/^# hw1\n\nAssignment `hw1`, without a day on which it is due, 3 points in all\.\n.*Only this file, /s,
  '... with one file, open for ever';

# ---- What it refuses leaves what is there.

my $before = -s "$folder/out/hw1.zip";
make_path("$folder/full/hw1.zip/x");
Chapter::save($conf, 'name = hw1', 'exercises = 2.9');
Chapter::save("$folder/file", 'x');
Chapter::save("$folder/right.conf", 'name = hw1', 'exercises = 1.1');
for ([$conf, "$folder/out", qr{^tools/handout: \Q$conf\E:2: exercise 2\.9 is not in chapter 2}],
     ["$folder/none.conf", "$folder/out", qr{^tools/handout: \Q$folder\E/none\.conf cannot be read}],
     ['', "$folder/out", qr{^tools/handout: an assignment and a folder are needed}],
     ["$folder/right.conf", "$folder/full", qr{^tools/handout: \Q$folder\E/full/hw1\.zip: }],
     ["$folder/right.conf", "$folder/file", qr{^tools/handout: .*\Q$folder\E/file}]) {
    my ($conf, $out, $message) = @$_;
    my ($status, $said) = handout($conf, $out);
    is $status, 2, 'refused with status 2';
    like $said, qr/$message[^\n]*\n\z/, '... in one line';
    is join(' ', glob "'$folder/out/'*"), "$folder/out/hw1.zip", '... with nothing left behind';
}
is -s "$folder/out/hw1.zip", $before, 'what was there is there';
is join(' ', glob "'$folder/full/'*"), "$folder/full/hw1.zip", '... nor is anything beside a folder of that name';
is `$make -s handout 2>&1` =~ s/\n.*//sr, 'tools/handout: an assignment and a folder are needed, as in: make handout '
  . 'NAME=hw1, which reads hw1.conf', 'make handout';

done_testing;
