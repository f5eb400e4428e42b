package Text;

# Words that others have chosen, as a student, a teacher or a compiler, made fit for
# where they go: a terminal, a page, a table for a spreadsheet.

use strict;
use warnings;
use utf8;
use Encode qw(decode);

# A text as characters, at most so many, without what commands a terminal, turns the
# direction of writing, or cannot stand in XML; bytes that are not UTF-8 are shown as
# \xHH. Lines may end as on Windows.
sub safe {
    my ($text, $most) = @_;
    return undef if !defined $text;
    my $is_cut = defined $most && length $text > $most;
    my $copy = $is_cut ? substr $text, 0, $most : $text;
    $copy =~ s/[\xc0-\xff][\x80-\xbf]*\z// if $is_cut && !utf8::is_utf8($copy); # a part of a character
    $copy = decode('UTF-8', $copy, sub { join '', map { sprintf '\\x%02X', $_ } @_ }) if !utf8::is_utf8($copy);
    $copy =~ s/\r\n/\n/g;
    $copy =~ s/([\x00-\x08\x0b-\x1f\x7f-\x9f])/sprintf '\\x%02X', ord $1/ge;
    $copy =~ s/([\x{202a}-\x{202e}\x{2066}-\x{2069}])/sprintf '\\x{%X}', ord $1/ge;
    $copy = join '', map { _is_character(ord) ? $_ : sprintf '\\x{%X}', ord } split //, $copy
      if $copy =~ /[^\x{00}-\x{d7ff}]/;
    return $copy . ($is_cut ? ' ... (the rest is left out)' : '');
}

sub _is_character {
    my ($code) = @_;
    return !($code >= 0xd800 && $code <= 0xdfff || ($code & 0xfffe) == 0xfffe || $code > 0x10ffff);
}

# ... and on one line, as a name in a message.
sub line { return safe(@_) =~ s/\s+/ /gr }

# All that stands in a file.
sub of_file {
    my ($path) = @_;
    open my $file, '<:encoding(UTF-8)', $path or die "$path: $!\n";
    local $/;
    return scalar <$file> // '';
}

# A path as bsd_glob takes it by the letter.
sub path { return $_[0] =~ s/([\\*?\[\]{}~])/\\$1/gr }

# Rows of fields as CSV, in which lines end as RFC 4180 has it. A spreadsheet takes what
# begins with one of these signs for a formula, and runs it: so it gets an apostrophe in
# front, unless it is a number. Where decimals have commas, fields end at semicolons, whatever
# is in quotes.
my $FORMULA = qr/[=+\-@\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]/;

sub csv {
    return join '', map { join(',', map { _field($_ // '') } @$_) . "\r\n" } @_;
}

sub _field {
    my ($text) = @_;
    $text =~ s/(^|;)(?=[\s"]*$FORMULA|[\t\r])/$1'/g if $text !~ /^-?\d+(?:\.\d+)?\z/;
    return $text =~ /[",\r\n;\t']|^\s|\s\z/ ? '"' . $text =~ s/"/""/gr . '"' : $text;
}

1;
