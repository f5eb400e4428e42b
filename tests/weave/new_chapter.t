#!/usr/bin/env perl
# The skeleton of a new chapter: it compiles and prints what it says, stands
# in its place, and says what is left to be written. What cannot be made
# leaves nothing behind.

use strict;
use warnings;
use File::Temp qw(tempdir);
use Chapter;
use Headers;
use Test::More;

my $build  = $ENV{BUILD} // 'build';
my $folder = tempdir(CLEANUP => 1);
open my $flags, '<', "$build/flags" or die "$build/flags: $!: make test-programs makes it\n";
my ($compile, $link) = split /\|/, <$flags>;
system("mkdir -p '$folder/tools/weave' '$folder/golden' && cp tools/weave/new-chapter '$folder/tools/weave' && "
    . "cp golden/generate.py '$folder/golden' && cp -R chapters src tests '$folder'") == 0
  or die "$folder: cannot be copied to\n";

sub text_of {
    open my $file, '<', "$folder/$_[0]" or return '';
    return join '', <$file>;
}

# All files, with their contents.
sub all { return join '', map { "$_\n" . text_of($_) } split /\n/, `cd '$folder' && find * -type f | sort` }

sub made {
    my @arguments = map { "'$_'" } @_;
    my $said = `'$folder/tools/weave/new-chapter' @arguments 2>&1`;
    return ($? >> 8) . ": $said";
}

# ---- What it refuses.

my $before = all();
for (['', 'Flash'], ['flash', 'Flash'], ['1_flash', 'Flash'], ['98_Quite', 'Flash'], ['98_a/b', 'Flash'],
     ["98_quite_new\n", 'Flash'], ['98_quite_new', ''], ['98_quite_new', "Two\nlines"], ['06_quite_new', 'Flash'],
     ['B_quite_new', 'Flash'], ['98_hashlib', 'Hash']) {
    like made(@$_), qr/^2: tools\/weave\/new-chapter: .*needed.*\n\z/, "refused: @$_";
}
like made('98_softmax', 'Flash'), qr/^2: .*: chapters\/02_softmax\.c is there already: /, 'refused: a name that is there';
mkdir "$folder/tests/98_quite_new.c.new" or die "$folder: $!\n";
like made('98_quite_new', 'Flash'), qr/^2: .*: tests\/98_quite_new\.c\.new: /, 'refused: what cannot be written';
rmdir "$folder/tests/98_quite_new.c.new";
is all(), $before, 'and nothing is left behind';

# ---- What it makes.

my %title = ('98_quite_new' => 'Quite new', 'Y_more_tables' => 'GPT: more', '00_zeroth' => 'The zeroth');
for my $name (sort keys %title) {
    my $said = made($name, $title{$name});
    like $said, qr/^0: /, "$name is made";
    my @files = ("chapters/$name.c", 'golden/generate.py', 'src/attention.h', "src/attention/$name.h", "tests/$name.c");
    is_deeply [$said =~ /^  (.*)/mg], \@files, '... which says where something is to be written';
    is join(' ', grep { text_of($_) !~ /TO WRITE: / } grep { $_ ne 'src/attention.h' } @files), '', '... and so do the files';
    for my $path (@files[0, 4]) {
        is `$compile -I'$folder/src' '$folder/$path' $build/libattention.a $link -lm -o '$folder/it' 2>&1`,
          '', "... $path compiles without a warning";
        is join("\n", Chapter->load("$folder/$path")->check_outputs("$folder/it")), '',
          '... and prints what it says' if $path =~ /^chapters/;
        is system("'$folder/it' >/dev/null"), 0, '... and ends well';
    }
}
my $headers  = Headers->load("$folder/src/attention.h");
my $header   = join "\n", @{$headers->{lines}};
my @sections = map { /^\d\z/ ? "0$_" : $_ } $header =~ /^## (?:Chapter|Appendix) (\w+), /mg;
is "@sections", join(' ', sort @sections), 'the headers have their order';
my $title = qr/^\/\*\n## Chapter 0, the zeroth \{#header-zeroth\}\n\*\/\n\n.*^## Chapter 98, quite new \{.*^## Appendix Y, GPT: more \{/ms;
like $header, $title, '... and their titles';
my $generator = text_of('golden/generate.py');
my ($table) = $generator =~ /^CHAPTERS = \{\n(.*?)^\}/ms;
is $table, join('', sort $table =~ /^.*\n/mg), 'so have the rows of the generator\'s table';
for my $name (sort keys %title) {
    my ($word) = $name =~ /_(.*)/;
    like $table, qr/^    "$name": $word,$/m, "... $name among them";
    like $generator, qr/\n\n\ndef $word\(\):\n.*TO WRITE.*\n\n\n/, '... with its function';
}

done_testing;
