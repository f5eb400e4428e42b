package Symbols;

# What the book's C declares and defines, and where: the functions, types, data
# and macros of its headers (Headers.pm), each with its comment, and what a
# chapter keeps to itself (static). Known of each:
#
#   name      kind     function, type, data or macro
#   page      line     where it is defined: a chapter's page, or the header's,
#                      and end, the last line that has its name
#   declared           its line among those of all headers (not if it is a chapter's own)
#   header             the header that has it, without its folder
#   code      says     its declaration, and the comment above that (of the header's)
#   uses               {page => first line of its code that uses it}

use strict;
use warnings;
use utf8;
use Chapter;
use File::Basename qw(basename);

my $REFERENCE = 'reference';

# The name of a chapter's page.
sub page_of { return $_[0]{name} =~ s/^\w+?_//r =~ tr/_/-/r }

sub new {
    my ($class, $header, @chapters) = @_;
    my $self = bless {all => {}, own => {}}, $class;
    $self->{all}{$_->{name}} = $_ for _declared($header);
    for my $chapter (@chapters) {
        my $page = page_of($chapter);
        for my $found ($chapter->definitions) {
            my $known = $found->{is_static} ? undef : $self->{all}{$found->{name}};
            my $place = {page => $page, line => $found->{first} + 1, end => $found->{first} + 1};
            if ($known) { @$known{keys %$place} = values %$place }
            else        { $self->{own}{$page}{$found->{name}} = {%$found, %$place, uses => {}} }
        }
    }
    _note_uses($self, $_) for @chapters;
    return $self;
}

# What a name means on a page.
sub find {
    my ($self, $name, $page) = @_;
    return $self->{own}{$page}{$name} // $self->{all}{$name};
}

# Those of the header, by name.
sub all {
    return sort { lc $a->{name} cmp lc $b->{name} || $a->{name} cmp $b->{name} } values %{$_[0]{all}};
}

# A pattern for every name that means something on a page.
sub names_on {
    my ($self, $page) = @_;
    return join '|', sort keys %{{%{$self->{all}}, %{$self->{own}{$page} // {}}}};
}

# Where the name leads from a line of a page: to its definition, and from there
# to its declaration. Nothing leads to where it stands.
sub address {
    my ($symbol, $page, $line) = @_;
    my $is_here = $page eq $symbol->{page} && defined $line
      && $line >= $symbol->{line} && $line <= ($symbol->{end} // $symbol->{line});
    my $there = $page eq $symbol->{page} ? '' : "$symbol->{page}.html";
    return "$there#L$symbol->{line}" if !$is_here;
    return $symbol->{declared} && $page ne $REFERENCE
      ? "$REFERENCE.html#L$symbol->{declared}" : undef;
}

# ------------------------------------------------------------- in the files

# The words of a comment; what it is called elsewhere begins a line.
sub _plain {
    my $text = join ' ', map { s{^\s*(?:/\*+|\*/|//|\*)\s?}{}r =~ s{\s*\*/\s*$}{}r } @_;
    return $text =~ s/\s+/ /gr =~ s/^ | $//gr =~ s/ (?=(?:PyTorch|NumPy|Python|MKL): )/\n/gr;
}

# A file's code without comments and strings; no line of it moves.
sub _code_of {
    my ($file) = @_;
    my ($lines, $kind) = @$file{qw(lines kind)};
    return Chapter::bare(join "\n", map { $kind->[$_] eq 'code' ? $lines->[$_] : '' } 0 .. $#$lines);
}

# The header is paragraphs: a comment, and what it is about, each from column 0 to its end.
my $BRACES = qr/(\{(?:[^{}]++|(?-1))*\})/;
my $DECLARATION = qr/^(?:#define\ \w+\((?:.*\\\n)*.*|\w[^;{}]*(?:;|$BRACES[^;{}\n]*;?))/m;
sub _declared {
    my ($header) = @_;
    my $lines = $header->{lines};
    my $code = _code_of($header);
    my ($says, $end, @found) = ('', -1);
    while ($code =~ /$DECLARATION/g) {
        my ($text, $first) = ($&, substr($code, 0, $-[0]) =~ tr/\n//);
        my ($kind, $name) = _name($text =~ s/\s+/ /gr);
        my $above = $first;
        $above-- while $above - 1 > $end && $lines->[$above - 1] =~ /\S/;
        $says = _plain(join("\n", @$lines[$above .. $first - 1]) =~ m{^(/\*.*?\*/)}s ? split /\n/, $1 : ()) if $above - 1 > $end;
        $end = $first + ($text =~ tr/\n//);
        push @found, {name => $name, kind => $kind, page => $REFERENCE, line => $first + 1, declared => $first + 1,
            end => $end + 1, code => join("\n", @$lines[$first .. $end]), says => $says, uses => {},
            header => basename($header->{from}[$first][0])} if defined $name;
    }
    return @found;
}

sub _name {
    my ($code) = @_;
    return (macro    => $1) if $code =~ /^#define (\w+)\(/;
    return if $code =~ /^#/;
    return (type     => $1) if $code =~ /^typedef\b.*?(\w+)\s*(?:\[[^\]]*\])*\s*;\s*$/;
    return (function => $1) if $code =~ /^(?!enum|struct)[\w\s*]+?\b(\w+)\(/;
    return (data     => $1) if $code =~ /^(?:extern|int|float)\b[^=]*?(\w+)\s*(?:\[[^\]]*\])*\s*;/;
    return;
}

# Does a line use the name? A function is one where it is called.
sub _note_uses {
    my ($self, $chapter) = @_;
    my $page  = page_of($chapter);
    my $names = $self->names_on($page);
    my @code  = split /\n/, _code_of($chapter);
    for my $i (0 .. $#code) {
        while ($code[$i] =~ /(?<![.>\w])($names)\b(?=(\()?)/g) {
            my ($name, $call) = ($1, $2);
            my $symbol = $self->find($name, $page);
            next if !is_used($symbol, $call) || $symbol->{page} eq $page && $symbol->{line} == $i + 1;
            $symbol->{uses}{$page} //= $i + 1;
        }
    }
}

# A local variable may have a function's name, but is not followed by "(".
sub is_used { return $_[0]{kind} !~ /function|macro/ || defined $_[1] }

1;
