#!/usr/bin/env perl
# The skeleton of a new chapter compiles, prints what it says, and stands in its
# place. What cannot be made leaves nothing behind.

use strict;
use warnings;
use File::Temp qw(tempdir);
use Chapter;
use Headers;
use Test::More;

my $build  = $ENV{BUILD} // 'build';
my $folder = tempdir(CLEANUP => 1);
my ($compile, $link) = Chapter::compiler();
system("mkdir -p '$folder/tools/weave' '$folder/golden' && cp tools/weave/new-chapter '$folder/tools/weave'"
    . " && cp golden/generate.py '$folder/golden' && cp -R chapters src tests '$folder'") == 0
  or die "$folder: cannot be copied to\n";

sub made {
    my $said = qx{'$folder/tools/weave/new-chapter' '$_[0]' '$_[1]' 2>&1};
    return ($? >> 8) . ": $said";
}
sub all { return scalar qx{cd '$folder' && find . -type f | sort | xargs cksum} }

my $before = all();
for (['flash', 'Flash'], ['98_a/b', 'Flash'], ['98_quite_new', ''], ['06_quite_new', 'Flash'], ['98_hashlib', 'Hash']) {
    like made(@$_), qr/^2: tools\/weave\/new-chapter: .*needed/, "refused: @$_";
}
is all(), $before, 'and nothing is left behind';

like made('98_quite_new', 'Quite new'), qr/^0: .*^  chapters\/98_quite_new\.c$/ms, 'a chapter is made';
for my $path ('chapters/98_quite_new.c', 'tests/98_quite_new.c') {
    is qx{$compile -I'$folder/src' '$folder/$path' $build/libattention.a $link -o '$folder/it' 2>&1}, '',
      "$path compiles without a warning";
    is qx{tools/weave/outputs --check '$folder/$path' '$folder/it' 2>&1}, '', '... and prints what it says'
      if $path =~ /^chapters/;
}
my $headers = join "\n", @{Headers->load("$folder/src/attention.h")->{lines}};
like $headers, qr/^## Chapter 98, quite new \{#header-quite-new\}.*^## Appendix/ms, 'its header is in its place';

done_testing;
