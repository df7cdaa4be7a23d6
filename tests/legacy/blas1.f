C@ f2c -a
      SUBROUTINE DAXPYU(N,DA,DX,DY)
C     DY := DY + DA*DX, BY FOURS, THE CLEAN-UP FIRST
      INTEGER N,I,M,MP1
      DOUBLE PRECISION DA,DX(*),DY(*)
      IF (N.LE.0) RETURN
      IF (DA.EQ.0.0D0) RETURN
C@ begin n=1000000
      M = MOD(N,4)
      IF (M.NE.0) THEN
         DO 30 I = 1,M
            DY(I) = DY(I) + DA*DX(I)
   30    CONTINUE
      END IF
      MP1 = M + 1
      DO 50 I = MP1,N,4
         DY(I) = DY(I) + DA*DX(I)
         DY(I+1) = DY(I+1) + DA*DX(I+1)
         DY(I+2) = DY(I+2) + DA*DX(I+2)
         DY(I+3) = DY(I+3) + DA*DX(I+3)
   50 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DAXPYM(N,DA,DX,DY)
C     THE UNROLLED LOOP ALONE
      INTEGER N,I,M,MP1
      DOUBLE PRECISION DA,DX(*),DY(*)
      M = MOD(N,4)
      MP1 = M + 1
C@ begin n=1000000
      DO 50 I = MP1,N,4
         DY(I) = DY(I) + DA*DX(I)
         DY(I+1) = DY(I+1) + DA*DX(I+1)
         DY(I+2) = DY(I+2) + DA*DX(I+2)
         DY(I+3) = DY(I+3) + DA*DX(I+3)
   50 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DAXPYS(N,DA,DX,INCX,DY,INCY)
C     STRIDES, EITHER OF WHICH MAY RUN BACKWARDS
      INTEGER N,INCX,INCY,I,IX,IY
      DOUBLE PRECISION DA,DX(*),DY(*)
      IF (N.LE.0) RETURN
C@ begin n=1000000 incx=2 incy=1
      IX = 1
      IY = 1
      IF (INCX.LT.0) IX = (-N+1)*INCX + 1
      IF (INCY.LT.0) IY = (-N+1)*INCY + 1
      DO 10 I = 1,N
         DY(IY) = DY(IY) + DA*DX(IX)
         IX = IX + INCX
         IY = IY + INCY
   10 CONTINUE
C@ end
      RETURN
      END
      DOUBLE PRECISION FUNCTION DDOTU(N,DX,DY)
C     DOT PRODUCT BY FIVES
      INTEGER N,I,M,MP1
      DOUBLE PRECISION DX(*),DY(*),DTEMP
      DDOTU = 0.0D0
      DTEMP = 0.0D0
      IF (N.LE.0) RETURN
      M = MOD(N,5)
      DO 30 I = 1,M
         DTEMP = DTEMP + DX(I)*DY(I)
   30 CONTINUE
      MP1 = M + 1
C@ begin n=1000000
      DO 50 I = MP1,N,5
         DTEMP = DTEMP + DX(I)*DY(I) + DX(I+1)*DY(I+1) +
     *           DX(I+2)*DY(I+2) + DX(I+3)*DY(I+3) + DX(I+4)*DY(I+4)
   50 CONTINUE
C@ end
      DDOTU = DTEMP
      RETURN
      END
      DOUBLE PRECISION FUNCTION DDOTS(N,DX,INCX,DY,INCY)
      INTEGER N,INCX,INCY,I,IX,IY
      DOUBLE PRECISION DX(*),DY(*),DTEMP
      DDOTS = 0.0D0
      DTEMP = 0.0D0
      IF (N.LE.0) RETURN
C@ begin n=1000000 incx=1 incy=1
      IX = 1
      IY = 1
      IF (INCX.LT.0) IX = (-N+1)*INCX + 1
      IF (INCY.LT.0) IY = (-N+1)*INCY + 1
      DO 10 I = 1,N
         DTEMP = DTEMP + DX(IX)*DY(IY)
         IX = IX + INCX
         IY = IY + INCY
   10 CONTINUE
C@ end
      DDOTS = DTEMP
      RETURN
      END
      SUBROUTINE DROTS(N,DX,INCX,DY,INCY,C,S)
      INTEGER N,INCX,INCY,I,IX,IY
      DOUBLE PRECISION DX(*),DY(*),DTEMP,C,S
      IF (N.LE.0) RETURN
      IX = 1
      IY = 1
      IF (INCX.LT.0) IX = (-N+1)*INCX + 1
      IF (INCY.LT.0) IY = (-N+1)*INCY + 1
C@ begin n=1000000 incx=1 incy=1
      DO 10 I = 1,N
         DTEMP = C*DX(IX) + S*DY(IY)
         DY(IY) = C*DY(IY) - S*DX(IX)
         DX(IX) = DTEMP
         IX = IX + INCX
         IY = IY + INCY
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DROTU(N,DX,DY,C,S)
      INTEGER N,I
      DOUBLE PRECISION DX(*),DY(*),DTEMP,C,S
C@ begin n=1000000
      DO 30 I = 1,N
         DTEMP = C*DX(I) + S*DY(I)
         DY(I) = C*DY(I) - S*DX(I)
         DX(I) = DTEMP
   30 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSCALS(N,DA,DX,INCX)
C     THE STEP OF THE LOOP IS AN ARGUMENT
      INTEGER N,INCX,I,NINCX
      DOUBLE PRECISION DA,DX(*)
      IF (N.LE.0 .OR. INCX.LE.0) RETURN
C@ begin n=1000000 incx=3
      NINCX = N*INCX
      DO 10 I = 1,NINCX,INCX
         DX(I) = DA*DX(I)
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSCALU(N,DA,DX)
      INTEGER N,I,M,MP1
      DOUBLE PRECISION DA,DX(*)
      M = MOD(N,5)
      DO 30 I = 1,M
         DX(I) = DA*DX(I)
   30 CONTINUE
      IF (N.LT.5) RETURN
      MP1 = M + 1
C@ begin n=1000000
      DO 50 I = MP1,N,5
         DX(I) = DA*DX(I)
         DX(I+1) = DA*DX(I+1)
         DX(I+2) = DA*DX(I+2)
         DX(I+3) = DA*DX(I+3)
         DX(I+4) = DA*DX(I+4)
   50 CONTINUE
C@ end
      RETURN
      END
      INTEGER FUNCTION IDAMXU(N,DX)
C     THE FIRST ELEMENT OF LARGEST MAGNITUDE
      INTEGER N,I
      DOUBLE PRECISION DX(*),DMAX
      IDAMXU = 0
      IF (N.LT.1) RETURN
      IDAMXU = 1
      IF (N.EQ.1) RETURN
C@ begin n=1000000
      DMAX = DABS(DX(1))
      DO 30 I = 2,N
         IF (DABS(DX(I)).GT.DMAX) THEN
            IDAMXU = I
            DMAX = DABS(DX(I))
         END IF
   30 CONTINUE
C@ end
      RETURN
      END
      INTEGER FUNCTION IDAMXS(N,DX,INCX)
      INTEGER N,INCX,I,IX
      DOUBLE PRECISION DX(*),DMAX
      IDAMXS = 0
      IF (N.LT.1 .OR. INCX.LE.0) RETURN
      IDAMXS = 1
      IF (N.EQ.1) RETURN
C@ begin n=1000000 incx=2
      IX = 1
      DMAX = DABS(DX(1))
      IX = IX + INCX
      DO 10 I = 2,N
         IF (DABS(DX(IX)).LE.DMAX) GO TO 5
         IDAMXS = I
         DMAX = DABS(DX(IX))
    5    IX = IX + INCX
   10 CONTINUE
C@ end
      RETURN
      END
      DOUBLE PRECISION FUNCTION DASUMU(N,DX)
      INTEGER N,I,M,MP1
      DOUBLE PRECISION DX(*),DTEMP
      DASUMU = 0.0D0
      DTEMP = 0.0D0
      IF (N.LE.0) RETURN
C@ begin n=1000000
      M = MOD(N,6)
      DO 30 I = 1,M
         DTEMP = DTEMP + DABS(DX(I))
   30 CONTINUE
      MP1 = M + 1
      DO 50 I = MP1,N,6
         DTEMP = DTEMP + DABS(DX(I)) + DABS(DX(I+1)) + DABS(DX(I+2)) +
     *           DABS(DX(I+3)) + DABS(DX(I+4)) + DABS(DX(I+5))
   50 CONTINUE
C@ end
      DASUMU = DTEMP
      RETURN
      END
      SUBROUTINE DCOPYS(N,DX,INCX,DY,INCY)
      INTEGER N,INCX,INCY,I,IX,IY
      DOUBLE PRECISION DX(*),DY(*)
      IF (N.LE.0) RETURN
C@ begin n=1000000 incx=1 incy=2
      IX = 1
      IY = 1
      IF (INCX.LT.0) IX = (-N+1)*INCX + 1
      IF (INCY.LT.0) IY = (-N+1)*INCY + 1
      DO 10 I = 1,N
         DY(IY) = DX(IX)
         IX = IX + INCX
         IY = IY + INCY
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DSWAPU(N,DX,DY)
      INTEGER N,I,M,MP1
      DOUBLE PRECISION DX(*),DY(*),DTEMP
      M = MOD(N,3)
      DO 30 I = 1,M
         DTEMP = DX(I)
         DX(I) = DY(I)
         DY(I) = DTEMP
   30 CONTINUE
      IF (N.LT.3) RETURN
      MP1 = M + 1
C@ begin n=1000000
      DO 50 I = MP1,N,3
         DTEMP = DX(I)
         DX(I) = DY(I)
         DY(I) = DTEMP
         DTEMP = DX(I+1)
         DX(I+1) = DY(I+1)
         DY(I+1) = DTEMP
         DTEMP = DX(I+2)
         DX(I+2) = DY(I+2)
         DY(I+2) = DTEMP
   50 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE DROTMS(N,DX,INCX,DY,INCY,DPARAM)
C     THE MODIFIED ROTATION, FLAG -1: A FULL MATRIX
      INTEGER N,INCX,INCY,I,KX,KY
      DOUBLE PRECISION DX(*),DY(*),DPARAM(5),W,Z,DH11,DH12,DH21,DH22
      KX = 1
      KY = 1
      IF (INCX.LT.0) KX = 1 + (1-N)*INCX
      IF (INCY.LT.0) KY = 1 + (1-N)*INCY
      DH11 = DPARAM(2)
      DH12 = DPARAM(4)
      DH21 = DPARAM(3)
      DH22 = DPARAM(5)
C@ begin n=1000000 incx=1 incy=1
      DO 10 I = 1,N
         W = DX(KX)
         Z = DY(KY)
         DX(KX) = W*DH11 + Z*DH12
         DY(KY) = W*DH21 + Z*DH22
         KX = KX + INCX
         KY = KY + INCY
   10 CONTINUE
C@ end
      RETURN
      END
      DOUBLE PRECISION FUNCTION DNRM2S(N,X,INCX)
C     SCALE AND SUM OF SQUARES: EACH STEP NEEDS THE ONE BEFORE
      INTEGER N,INCX,IX
      DOUBLE PRECISION X(*),ABSXI,SCALE,SSQ
      SCALE = 0.0D0
      SSQ = 1.0D0
C@ begin n=1000 incx=1
      DO 10 IX = 1,1 + (N-1)*INCX,INCX
         IF (X(IX).NE.0.0D0) THEN
            ABSXI = DABS(X(IX))
            IF (SCALE.LT.ABSXI) THEN
               SSQ = 1.0D0 + SSQ*(SCALE/ABSXI)**2
               SCALE = ABSXI
            ELSE
               SSQ = SSQ + (ABSXI/SCALE)**2
            END IF
         END IF
   10 CONTINUE
C@ end
      DNRM2S = SCALE*DSQRT(SSQ)
      RETURN
      END
      DOUBLE PRECISION FUNCTION DSDOTS(N,SX,INCX,SY,INCY)
C     SINGLE PRECISION, SUMMED IN DOUBLE
      INTEGER N,INCX,INCY,I,KX,KY
      REAL SX(*),SY(*)
      DSDOTS = 0.0D0
      IF (N.LE.0) RETURN
C@ begin n=1000000 incx=1 incy=1
      KX = 1
      KY = 1
      IF (INCX.LT.0) KX = 1 + (1-N)*INCX
      IF (INCY.LT.0) KY = 1 + (1-N)*INCY
      DO 10 I = 1,N
         DSDOTS = DSDOTS + DBLE(SX(KX))*DBLE(SY(KY))
         KX = KX + INCX
         KY = KY + INCY
   10 CONTINUE
C@ end
      RETURN
      END
